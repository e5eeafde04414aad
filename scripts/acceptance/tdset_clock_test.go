package acceptance

// The time of day in tests about TDSets, which can't wait for nine o'clock. The exercises' programs
// have a flag --now. Chapter 07's program only has the real clock, so its TDSets get time zones
// that are ahead of the real ones (zones_ahead_test.go).

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/program"
)

// testZones are the time zones of TDSets in tests. UTC is for TDSets that name none.
var testZones = []string{program.UTC, "Europe/Berlin", "Asia/Kolkata", "America/New_York"}

// at is a time in UTC on a day in June.
func at(hour, minute int) time.Time {
	return time.Date(2026, time.June, 15, hour, minute, 0, 0, time.UTC)
}

// startAt starts the operator as if it were that time, or up to a second later. From then on, time
// passes as usual.
func (s *scenario) startAt(now time.Time) *scenario {
	s.Helper()
	if !s.isFull() {
		s.start("--now", now.Format(time.RFC3339))
		s.began, s.as = s.operator.Began, now
		return s
	}
	s.began = time.Now()
	by := now.Sub(s.began).Truncate(time.Second)
	if now.After(s.began) {
		by += time.Second
	}
	s.as = s.began.Add(by)
	s.zones = map[string][]program.ZoneChange{}
	for _, name := range testZones {
		changes, err := ahead(name, by, s.began)
		s.must(err)
		s.zones[name] = changes
	}
	return s.start()
}

// startAgain starts the operator again, and time continues.
func (s *scenario) startAgain() *scenario {
	s.Helper()
	if !s.isFull() {
		return s.startAt(s.now())
	}
	return s.start()
}

// withTestZone gives a TDSet of chapter 07 the tests' UTC if it has no zone. Only the test
// defaultZone needs the real default.
func (s *scenario) withTestZone(object *unstructured.Unstructured) *unstructured.Unstructured {
	s.Helper()
	if _, found, _ := unstructured.NestedString(object.Object, "spec", "timeZone"); s.isFull() && !found {
		with(object, program.UTC, "timeZone")
	}
	return object
}

// now is the operator's current time.
func (s *scenario) now() time.Time { return s.as.Add(time.Since(s.began)).Truncate(time.Second) }

// isBefore returns an error as long as it is before that time for the operator.
func (s *scenario) isBefore(instant time.Time) error {
	if now := s.now(); now.Before(instant) {
		return errors.New("it is " + now.Format(time.TimeOnly))
	}
	return nil
}

// means reports whether an instant in a TDSet's status is that time for the operator.
func (s *scenario) means(got *metav1.Time, want time.Time) bool {
	if s.isFull() && got != nil {
		return got.Add(s.as.Sub(s.began)).Equal(want)
	}
	return got != nil && got.Time.Equal(want)
}

// lead is how long before an instant the operator starts. By then, it should have seen all objects.
// A slower one is judged less strictly, because the instant has passed when it starts work.
const lead = 4 * time.Second

// approach starts the operator again shortly before an instant.
func (s *scenario) approach(instant time.Time) {
	s.Helper()
	if s.operator != nil {
		s.operator.Stop()
	}
	s.startAt(instant.Add(-lead))
}

// announces is called after approach. In zones that have moved, the next transition is at another
// instant, so chapter 07 writes each TDSet's status once, and announces skips these writes. If the
// operator is so slow that the instant has passed, it returns 1, because that write may still
// follow.
func (s *scenario) announces(instant time.Time, names ...string) (late int) {
	s.Helper()
	if !s.isFull() {
		return 0
	}
	for _, name := range names {
		s.eventually("TDSet "+name+" announces its next transition", func() error {
			late = 0
			if !s.now().Before(instant) {
				late = 1
				return nil
			}
			if next := s.getTDSet(name).Status.NextTransitionTime; !s.means(next, instant) {
				return fmt.Errorf("it is at %v", next)
			}
			return nil
		})
		if late > 0 {
			return late
		}
	}
	s.writes()
	return 0
}
