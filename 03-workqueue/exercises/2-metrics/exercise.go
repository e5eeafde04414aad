//go:build !solution

package diagnosis

// Diagnose compares two scrapes of a queue, which are at least 30 seconds apart. objects is the
// number of objects that the controller manages. If several illnesses fit, it returns the one that
// comes first in the README's list.
func Diagnose(before, now Scrape, objects int) Illness {
	// YOUR WORK: this calls every busy queue ill, and misses those that look idle.
	if now.Depth > 0 {
		return Growing
	}
	return Healthy
}
