package demo

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// The solved exercises' programs have a flag for the time, and neither Services nor time zones.
func TestTheTourOfSolvedExercises(t *testing.T) {
	tour := solvedTour("tdset.yaml")
	for _, act := range tour.acts {
		if len(act.flags) != 2 || act.flags[0] != "--now" {
			t.Fatalf("got the flags %q, want --now and a time", act.flags)
		}
		if _, err := time.Parse(time.RFC3339, act.flags[1]); err != nil {
			t.Error(err)
		}
		for _, step := range act.steps {
			for _, lacks := range []string{"service", "timeZone"} {
				if text := fmt.Sprint(step.kubectl, step.waitFor, tour.shows); strings.Contains(text, lacks) {
					t.Errorf("step %q needs %s, which these programs lack: %s", step.title, lacks, text)
				}
			}
		}
	}
}
