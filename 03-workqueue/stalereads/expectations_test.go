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
		"a Pod that nobody expected has arrived":       {0, 1, 0, true},
		"no Pod has arrived":                           {3, 0, 0, false},
		"all Pods have arrived":                        {3, 3, 0, true},
		"some haven't arrived for almost five minutes": {3, 2, expectationsTimeout - 1, false},
		"some haven't arrived for five minutes":        {3, 2, expectationsTimeout, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newExpectations()
				e.expectCreations(key, test.expected)
				e.creationsObserved(key, test.observed)
				time.Sleep(test.after)
				if got := e.satisfied(key); got != test.want {
					t.Errorf("satisfied: %t, want %t", got, test.want)
				}
				if _, remembered := e.missing[key]; remembered == test.want {
					t.Errorf("the owner is remembered: %t, want %t", remembered, !test.want)
				}
			})
		})
	}
}
