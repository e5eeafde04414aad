package faults

import (
	"strings"
	"testing"
)

// Each fault is complete, and its name is unique.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, fault := range All() {
		explained := fault.Unsurvived || fault.Why != "" && fault.Lesson != ""
		if fault.Label == "" || fault.Title == "" || fault.Does == "" || !explained ||
			fault.LeaderDies != (fault.See == "") || fault.LeaderDies != (fault.Begin == nil) {
			t.Errorf("%s lacks something: %+v", fault.Name, fault)
		}
		if seen[strings.ToLower(fault.Name)] {
			t.Errorf("there are two faults %s", fault.Name)
		}
		seen[strings.ToLower(fault.Name)] = true
	}
}
