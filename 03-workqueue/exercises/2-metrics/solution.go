//go:build solution

package diagnosis

// Diagnose compares two scrapes of a queue, which are at least 30 seconds apart. objects is the
// number of objects that the controller manages. If several illnesses fit, it returns the one that
// comes first in the README's list.
func Diagnose(before, now Scrape, objects int) Illness {
	if now.Adds < before.Adds { // the program was started again, so everything in now is new
		before = Scrape{At: before.At}
	}
	seconds := now.At.Sub(before.At).Seconds()
	adds, retries := now.Adds-before.Adds, now.Retries-before.Retries
	taken, waited := now.Waits-before.Waits, now.WaitTime-before.WaitTime
	switch {
	case now.Longest > 60:
		return Stuck
	case now.Depth > before.Depth && waited > 10*taken: // on average, more than ten seconds
		return Growing
	case adds > 0 && retries > adds/2:
		return Failing
	case adds > seconds*float64(objects): // more than one a second for each object
		return HotLoop
	}
	return Healthy
}
