//go:build check || solution

// The tests of Missing. Each case runs the loop, and looks at the number of Pods.
//
// As given, Missing passes the first case and fails the others. `workshop test` checks these
// failures:
//
// fails: TestMissing/the loop runs again, and there is nothing left to do
// says: there are [3 6 9] after each pass, want [3 3 3]
//
// fails: TestMissing/a Pod is gone, and the event about it was lost
// says: there are [5] after each pass, want [3]
//
// fails: TestMissing/fewer Pods are desired than exist
// says: there are [4] after each pass, want [1]

package firstloop

import (
	"slices"
	"testing"
)

func TestMissing(t *testing.T) {
	for sentence, test := range map[string]struct {
		desired, actual int // numbers of Pods before the first pass
		wantAfter       []int
	}{
		"no Pod exists yet": {
			desired: 3, actual: 0,
			wantAfter: []int{3},
		},
		"the loop runs again, and there is nothing left to do": {
			desired: 3, actual: 0,
			wantAfter: []int{3, 3, 3},
		},
		"a Pod is gone, and the event about it was lost": {
			desired: 3, actual: 2,
			wantAfter: []int{3},
		},
		"fewer Pods are desired than exist": {
			desired: 1, actual: 3,
			wantAfter: []int{1},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			after := Loop(test.desired, test.actual, len(test.wantAfter))
			if !slices.Equal(after, test.wantAfter) {
				t.Errorf("with %d desired and %d existing Pods, there are %v after each pass, want %v",
					test.desired, test.actual, after, test.wantAfter)
			}
		})
	}
}
