package main

import (
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

func TestExpectations(t *testing.T) {
	key := types.NamespacedName{Name: "ours"}
	for sentence, test := range map[string]struct {
		expected, observed int
		after              time.Duration
		want               bool
	}{
		"nothing is expected":                          {0, 0, 0, true},
		"a Pod that nobody expected has arrived":       {0, 1, 0, true},
		"no Pod has arrived":                           {3, 0, 0, false},
		"some Pods haven't arrived":                    {3, 2, time.Minute, false},
		"all Pods have arrived":                        {3, 3, 0, true},
		"some Pods haven't arrived for five minutes":   {3, 2, expectationsTimeout, true},
		"some haven't arrived for almost five minutes": {3, 2, expectationsTimeout - 1, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExpectations()
				if test.expected > 0 {
					e.expectCreations(key, test.expected)
				}
				e.creationsObserved(key, test.observed)
				time.Sleep(test.after)
				if got := e.satisfied(key); got != test.want {
					t.Errorf("satisfied: %t, want %t", got, test.want)
				}
			})
		})
	}
}

// The owner's entry is deleted once its expectations are met.
func TestExpectationsAreForgotten(t *testing.T) {
	e, key := newExpectations(), types.NamespacedName{Name: "ours"}
	e.expectCreations(key, 1)
	e.creationsObserved(key, 1)
	e.satisfied(key)
	if len(e.missing)+len(e.since) != 0 {
		t.Errorf("it still remembers %v, %v", e.missing, e.since)
	}
}
