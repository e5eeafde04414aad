package acceptance

// The promises about time: T2 boundary, T3 midnight, T4 zone and T11 restart. A TDSet settles at a
// time far from any boundary. Then the operator is restarted a few seconds before one.

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/program"
)

func boundary(s *scenario) {
	s.startAt(at(8, 0))
	s.createTDSet("a", 1, window{9, 17, 2}, window{17, 19, 3})
	s.becomesScheduled("a", 1)
	s.sentinel("settled")
	s.writes()

	s.approach(at(9, 0))
	late := s.announces(at(9, 0), "a")
	// Changes before the boundary don't make the operator forget it.
	s.patchTDSet("a", `{"metadata":{"annotations":{"touched":"yes"}}}`)
	before := s.patchDeployment("a", `{"metadata":{"labels":{"touched":"yes"}}}`)
	s.createTDSet("b", 1, office)
	s.isScaledAt("a", 2, at(9, 0))
	tdset := s.becomesScheduled("a", 2)
	s.becomesScheduled("b", 2)
	s.sentinel("crossed")
	// Not the number of writes: while the cache is behind, the same apply may be sent twice.
	if changes := s.getDeployment("a").Generation - before.Generation; changes != 1 {
		s.Errorf("the Deployment's spec has changed %d times, want once", changes)
	}
	if writes := s.tally().of["a"]; writes["tdsets/status"] > 2+late || writes["tdsets"] > 0 {
		s.Errorf("want at most two writes of the status, got %v", writes)
	}
	if next := tdset.Status.NextTransitionTime; s.isFull() &&
		(tdset.Status.ActiveWindow != "9-17" || !s.means(next, at(17, 0))) {
		s.Errorf("got status %+v", tdset.Status)
	}

	s.approach(at(17, 0))
	s.isScaledAt("a", 3, at(17, 0))
	s.becomesScheduled("a", 3)
	s.becomesScheduled("b", 1)
}

// isScaledAt waits until the Deployment asks for that many replicas. It must not do so before the
// instant, nor so long after it that the operator seems to check once a minute.
func (s *scenario) isScaledAt(name string, replicas int32, instant time.Time) {
	s.Helper()
	s.hasReplicas(name, replicas)
	if seen := s.as.Add(time.Since(s.began)); seen.Before(instant) || seen.After(instant.Add(45*time.Second)) {
		s.Errorf("the Deployment has %d replicas at %s, want that at %s", replicas, seen.Format(time.TimeOnly),
			instant.Format(time.TimeOnly))
	}
}

func midnight(s *scenario) {
	s.startAt(at(23, 0))
	s.createTDSet("to-0", 3, window{19, 0, 2}, window{1, 7, 1})
	s.createTDSet("to-24", 3, window{19, 24, 2}, window{1, 7, 1})
	s.createTDSet("hour-23", 3, window{23, 24, 2}, window{1, 7, 1})
	all := func(replicas int32) {
		s.Helper()
		for _, name := range []string{"to-0", "to-24", "hour-23"} {
			s.becomesScheduled(name, replicas)
		}
	}
	all(2)
	s.approach(at(24, 0))
	all(3)
	s.approach(at(25, 0))
	all(1)
}

func pastMidnight(s *scenario) {
	s.startAt(at(23, 0))
	s.createTDSet("night", 1, window{22, 6, 2})
	s.createTDSet("day", 1, window{0, 24, 2})
	s.createTDSet("witness", 1, window{0, 1, 2})
	for name, replicas := range map[string]int32{"night": 2, "day": 2, "witness": 1} {
		s.becomesScheduled(name, replicas)
	}
	s.sentinel("settled")
	s.writes()
	s.approach(at(24, 0))
	late := s.announces(at(24+6, 0), "night")
	s.becomesScheduled("witness", 2)
	s.sentinel("crossed")
	if writes := s.tally(); writes.total("night") > late || writes.total("day") > 0 {
		s.Errorf("unnecessary writes, because the window is the same: night %v, day %v", writes.of["night"], writes.of["day"])
	}

	s.approach(at(24+6, 0))
	s.becomesScheduled("night", 1)
	s.becomesScheduled("day", 2)
}

// In Berlin, clocks go from 02:00 to 03:00 at 01:00 UTC on 29 March 2026, and from 03:00 back to
// 02:00 on 25 October.
func zone(s *scenario) {
	forward := time.Date(2026, time.March, 29, 1, 0, 0, 0, time.UTC)
	s.startAt(forward.Add(-time.Hour))
	berlin := []window{{1, 2, 2}, {2, 3, 5}, {3, 4, 3}}
	s.create(with(tdsetObject("berlin", 1, berlin...), "Europe/Berlin", "timeZone"))
	s.create(with(tdsetObject("utc", 1, berlin...), program.UTC, "timeZone"))
	s.create(with(tdsetObject("kolkata", 1, window{5, 6, 2}, window{6, 7, 3}), "Asia/Kolkata", "timeZone"))
	first := s.becomesScheduled("berlin", 2)
	s.becomesScheduled("utc", 1)
	half := s.becomesScheduled("kolkata", 2)
	for _, t := range []struct {
		*tdset
		next time.Time
	}{{first, forward}, {half, forward.Add(-30 * time.Minute)}} {
		if next := t.Status.NextTransitionTime; !s.means(next, t.next) {
			s.Errorf("TDSet %s: the next transition is at %v, want %v", t.Name, next, t.next)
		}
	}
	s.approach(forward.Add(-30 * time.Minute))
	s.becomesScheduled("kolkata", 3)
	s.approach(forward)
	s.becomesScheduled("berlin", 3) // there is no 02:00 to 03:00 today
	s.becomesScheduled("utc", 2)

	back := time.Date(2026, time.October, 25, 1, 0, 0, 0, time.UTC)
	s.operator.Stop()
	s.startAt(back.Add(-time.Minute))
	second := s.becomesScheduled("berlin", 5)
	if next := second.Status.NextTransitionTime; !s.means(next, back.Add(time.Hour)) {
		s.Errorf("02:00 to 03:00 occurs twice and ends at %v, want %v", next, back.Add(time.Hour))
	}
	s.patchTDSet("berlin", `{"spec":{"timeZone":"America/New_York"}}`) // 20:59 there
	s.becomesScheduled("berlin", 1)
}

// defaultZone needs the real hour, which may end during the test.
func defaultZone(s *scenario) {
	s.start()
	hour := int64(time.Now().UTC().Hour())
	next := (hour + 1) % 24
	object := tdsetObject("a", 1, window{hour, hour + 1, 2}, window{next, next + 1, 2})
	_, err := s.objects().Create(s.Context(), s.inVersion(object), metav1.CreateOptions{})
	s.must(err)
	s.becomesScheduled("a", 2)
}

func restart(s *scenario) {
	s.startAt(at(8, 30))
	for _, name := range []string{"scaled", "edited", "drifted", "removed", "untouched"} {
		s.createTDSet(name, 1, office)
	}
	s.patchTDSet("untouched", `{"spec":{"schedulingConfig":[]}}`)
	for _, name := range []string{"scaled", "edited", "drifted", "removed", "untouched"} {
		s.becomesScheduled(name, 1)
	}
	s.sentinel("settled")
	s.operator.Stop()

	s.createTDSet("created", 1, office)
	s.patchTDSet("edited", `{"spec":{"schedulingConfig":[{"startTime":8,"endTime":12,"replica":3}]}}`)
	s.patchDeployment("drifted", `{"spec":{"replicas":4}}`)
	s.deleteTDSet("removed", metav1.DeletePropagationBackground)
	untouched := s.getDeployment("untouched")

	s.startAt(at(11, 0))
	for name, replicas := range map[string]int32{"created": 2, "scaled": 2, "edited": 3, "drifted": 2} {
		s.becomesScheduled(name, replicas)
	}
	s.tdsetIsGone("removed")
	s.disappears("removed")
	if now := s.getDeployment("untouched"); now.ResourceVersion != untouched.ResourceVersion {
		s.Error("the program wrote an unchanged Deployment")
	}

	// A day later, and then with a clock that was set back: only the current time counts.
	s.operator.Stop()
	s.startAt(at(24+18, 0))
	s.becomesScheduled("scaled", 1)
	s.operator.Stop()
	s.startAt(at(16, 0))
	s.becomesScheduled("scaled", 2)
}

// tally counts an operator's writes by the object's name and resource.
type tally struct {
	of      map[string]map[string]int
	events  int
	refused int // by the server: these changed nothing, and are the price of a lagging cache
}

// tally counts the operator's writes since the last call of tally or writes.
func (s *scenario) tally() tally {
	s.Helper()
	counted := tally{of: map[string]map[string]int{}}
	for _, write := range s.writes() {
		switch {
		case write.Code >= 400:
			counted.refused++
		case write.Resource == "events":
			counted.events++
		default:
			if counted.of[write.Name] == nil {
				counted.of[write.Name] = map[string]int{}
			}
			counted.of[write.Name][write.Resource]++
		}
	}
	return counted
}

// total is the number of writes to all objects of that name.
func (t tally) total(name string) (total int) {
	for _, count := range t.of[name] {
		total += count
	}
	return total
}
