// A hundred TDSets that must be scaled in the same second, for chapter 07 only.

package acceptance

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
)

// TestCrowdOfTDSets checks the write budget: at most 4 writes and 1 Event per TDSet until all are
// available, and none after that, even after a restart. When a window begins, one write of the
// Deployment and two of the status.
func TestCrowdOfTDSets(t *testing.T) {
	fits := func(j judged) bool { return j.isFull() && whyLeftOut(contract.ManyPods) == "" }
	alone(t, chapters.TDSet, "a hundred TDSets at once, and a boundary", fits, func(t *testing.T, s *scenario) {
		s.moveOut()
		s.createCrowd(crowd)
		s.startAt(at(8, 0))
		s.crowdBecomesScheduled(1)
		s.sentinel("settled")
		writes := s.tally()
		for name := range writes.of {
			if count := writes.total(name); count > 4 {
				t.Errorf("TDSet %s and its Deployment took %d writes: %v", name, count, writes.of[name])
			}
		}
		if writes.events > crowd+1 {
			t.Errorf("%d events for %d TDSets", writes.events, crowd+1)
		}
		t.Logf("%d TDSets: %d writes to the first of them, %d events, %d writes refused", crowd, writes.total(crowdName(0)), writes.events, writes.refused)

		// A restarted program handles all of them, and then one that is created now.
		s.operator.Stop()
		s.startAgain()
		s.sentinel("quiet")
		for name, of := range s.tally().of {
			if name != "quiet" {
				t.Errorf("unnecessary writes after all had settled: %s %v", name, of)
			}
		}

		s.operator.Stop()
		s.startAt(at(9, 0).Add(-30 * time.Second)) // time for all statuses
		var names []string
		for i := range crowd {
			names = append(names, crowdName(i))
		}
		late := s.announces(at(9, 0), names...)
		s.crowdBecomesScheduled(2)
		s.sentinel("crossed")
		writes = s.tally()
		for i := range crowd {
			of := writes.of[crowdName(i)]
			if of["deployments"] != 1 || of["tdsets/status"] > 2+late || of["tdsets"] > 0 {
				t.Errorf("want one write of the Deployment and at most two of the status for %s, got %v", crowdName(i), of)
			}
		}
		t.Logf("at the boundary: %v to the first of them, %d events, %d writes refused", writes.of[crowdName(0)], writes.events, writes.refused)
		s.deleteNamespace()
	})
}

// crowdBecomesScheduled waits until every TDSet of the crowd reports that many replicas.
func (s *scenario) crowdBecomesScheduled(replicas int32) {
	s.Helper()
	s.crowdBecomes(fmt.Sprintf("every TDSet has %d replicas", replicas), func(object *unstructured.Unstructured) error {
		return s.checkScheduled(s.decodeTDSet(object), replicas)
	})
}
