package acceptance

// Promises under faults that the judge doesn't check: those about time, and about names in use.

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/faults"
)

// underEachFault runs a test of each chapter's own program for each fault that the program survives.
// The operator is behind a proxy and isn't started yet. begin begins the fault, and end ends it.
func underEachFault(t *testing.T, kind, what string, test func(s *scenario, begin func() (end func()))) {
	forChaptersAtOnce(t, kind, judged.isFull, func(t *testing.T, env *environment, j judged) {
		for _, fault := range faults.Survivable() {
			if fault.Replicas || !j.holds(fault.Name) || j.IsByChance(j.chapter, fault.Name) {
				continue
			}
			t.Run(fault.Name+" "+fault.Title+": "+what, func(t *testing.T) {
				t.Parallel()
				s := newScenario(t, env, j)
				proxy := s.behindProxy()
				test(s, func() (end func()) { return s.begin(fault, proxy) })
			})
		}
	})
}

// During the fault, an hour begins at which a TDSet must be scaled.
func TestBoundariesUnderFaults(t *testing.T) {
	nine, night := at(9, 0), window{22, 9, 0}
	underEachFault(t, chapters.TDSet, "a boundary", func(s *scenario, begin func() (end func())) {
		s.startAt(at(8, 0))
		s.createTDSet("crossing", 1, night)
		s.becomesScheduled("crossing", 0)
		s.approach(nine)
		s.announces(nine, "crossing")

		end := begin()
		s.eventually("it is nine", func() error { return s.isBefore(nine.Add(time.Second)) })
		end()

		s.becomesScheduled("crossing", 1)
	})
}

// During the fault, somebody else takes a name just before a Foo or TDSet asks for it, and another
// name becomes free.
func TestRefusalsUnderFaults(t *testing.T) {
	for _, kind := range []string{chapters.Foo, chapters.TDSet} {
		underEachFault(t, kind, "a refusal", func(s *scenario, begin func() (end func())) {
			s.takeName("freed")
			s.start()
			s.askFor("freed")
			s.isRefusedTheName("freed")

			end := begin()
			foreign := s.takeName("taken")
			s.askFor("taken")
			s.must(s.deployments().Delete(s.Context(), "freed", metav1.DeleteOptions{}))
			end()

			s.becomesFine("freed")
			s.isRefusedTheName("taken")
			now := s.getDeployment("taken")
			if now.UID != foreign.UID || !equality.Semantic.DeepEqual(now.Spec, foreign.Spec) || len(now.OwnerReferences) > 0 {
				s.Errorf("somebody else's Deployment was touched: %+v", now)
			}
		})
	}
}
