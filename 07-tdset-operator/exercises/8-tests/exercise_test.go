//go:build check || solution

// The test of your tests. They must accept the schedule that keeps the rules, and report an error
// for each of the others.
//
// As given, there is one test, which accepts them all. `workshop test` checks these failures:
//
// fails: TestTests/they report a schedule that changes a moment too late
// says: which test would notice that it changes a moment too late?
//
// fails: TestTests/they report a schedule that reads all times as UTC
// says: which test would notice that it reads all times as UTC?
//
// fails: TestTests/they report a schedule that forgets a window at midnight
// says: which test would notice that it forgets a window at midnight?
//
// fails: TestTests/they report a schedule that prefers the last window where two overlap
// says: which test would notice that it prefers the last window where two overlap?
//
// fails: TestTests/they report a schedule that gives each day 24 hours
// says: which test would notice that it gives each day 24 hours?

package tests

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"testing"
)

func TestTests(t *testing.T) {
	t.Run("they accept the schedule that keeps the rules", func(t *testing.T) {
		for _, reported := range run(right) {
			t.Errorf("they report: %s", reported)
		}
	})
	for _, how := range slices.Sorted(maps.Keys(wrong)) {
		t.Run("they report a schedule that "+how, func(t *testing.T) {
			if len(run(wrong[how])) == 0 {
				t.Errorf("all tests pass; which test would notice that it %s?", how)
			}
		})
	}
}

// run runs all tests on at, and returns what they report.
func run(at At) (reported []string) {
	for _, test := range Tests {
		r := &recorder{}
		ended := make(chan struct{})
		go func() { // because Fatalf ends its goroutine
			defer close(ended)
			test(r, at)
		}()
		<-ended
		reported = append(reported, r.reported...)
	}
	return reported
}

// recorder is a T that remembers the errors.
type recorder struct{ reported []string }

func (r *recorder) Errorf(format string, args ...any) {
	r.reported = append(r.reported, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
