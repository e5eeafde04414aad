// Three hundred TDSets at once, all of which are to be scaled in the same second. They are a lot
// for chapter 07 alone.

package acceptance

import (
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
)

// TestCrowdOfTDSets holds the write budget: at most 4 writes and 1 event for each TDSet until all
// is available, and none after that, a restart included; one write of the Deployment and two of the
// status when a window begins.
func TestCrowdOfTDSets(t *testing.T) {
	fits := func(j judged) bool { return j.isFull() && whyLeftOut(contract.ManyPods) == "" }
	alone(t, chapters.TDSet, "three hundred TDSets at once, and a boundary", fits, func(t *testing.T, s *scenario) {
		s.movesOut()
		s.createCrowd()
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

		// After a restart it looks at all of them, and then at one that is created now.
		s.operator.Stop()
		s.startAgain()
		s.sentinel("quiet")
		for name, of := range s.tally().of {
			if name != "quiet" {
				t.Errorf("writes though all had settled: %s %v", name, of)
			}
		}

		s.operator.Stop()
		s.startAt(at(9, 0).Add(-30 * time.Second)) // three hundred statuses have to announce the boundary first
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
				t.Errorf("one write of the Deployment and at most two of the status are needed for %s, but there were %v", crowdName(i), of)
			}
		}
		t.Logf("at the boundary: %v to the first of them, %d events, %d writes refused", writes.of[crowdName(0)], writes.events, writes.refused)
		s.namespaceGoes()
	})
}

// crowdBecomesScheduled waits until every TDSet of the crowd has so many replicas, and says so.
func (s *scenario) crowdBecomesScheduled(replicas int32) {
	s.Helper()
	s.crowdBecomes(fmt.Sprintf("every TDSet has %d replicas", replicas), func(object *unstructured.Unstructured) error {
		return s.saysScheduled(s.decodeTDSet(object), replicas)
	})
}
