//go:build !solution

package tests

import (
	"time"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// T is the part of *testing.T that your tests may use. Fatalf ends the test.
type T interface {
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Tests each get the At that they test. For one that keeps the rules, no test may report an error.
// For each one that breaks a rule, at least one test must.
var Tests = []func(t T, at At){
	testNoon,
	// YOUR WORK: this single test accepts even those that break a rule.
}

// testNoon checks what a TDSet wants at noon, and until when.
func testNoon(t T, at At) {
	spec := &schedulev2.TDSetSpec{
		Windows:         []schedulev2.Window{{Name: "office", Start: "09:00", End: "17:00", Replicas: 5}},
		DefaultReplicas: 1,
	}
	state, err := at(spec, time.Date(2026, time.March, 2, 12, 0, 0, 0, time.UTC))
	if err != nil {
		t.Fatalf("at noon: got the error %v", err)
	}
	if next := time.Date(2026, time.March, 2, 17, 0, 0, 0, time.UTC); state.Replicas != 5 || !state.Next.Equal(next) {
		t.Errorf("at noon: got %d replicas until %s, want 5 until %s", state.Replicas, state.Next, next)
	}
}
