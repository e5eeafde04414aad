// The promise that needs a cluster without the CRD: B10, a CRD that is missing at start is waited for.

package acceptance

import (
	"errors"
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestMissingCRD(t *testing.T) {
	alone(t, "B10 bad input: a CRD that is missing is waited for", nil, func(t *testing.T, s *scenario) {
		// Deleting a CRD deletes every object of its kind: only when there is none.
		s.eventually("no Foo is left in the cluster", func() error {
			foos, err := s.dynamic.Resource(foosResource).List(s.Context(), metav1.ListOptions{})
			if err == nil && len(foos.Items) > 0 {
				return fmt.Errorf("there are %d", len(foos.Items))
			}
			return err
		})
		s.applied = "" // whatever becomes of this test, the next one has a CRD
		_, err := s.kubectl.Run(s.Context(), "delete", "--wait", "-f", s.chapter.Parts().CRD)
		s.must(err)

		s.start()
		s.eventually("the program says what is missing", func() error {
			if !s.operator.says("is the CRD applied") {
				return errors.New("not a word of it")
			}
			return nil
		})
		s.must(s.kubectl.ApplyCRD(s.Context(), s.chapter.Parts().CRD))
		s.createFoo("a", "a", 1)
		s.becomesReady("a")
		if crashes := s.operator.Crashes(); crashes > 0 {
			t.Errorf("the program has exited %d times", crashes)
		}
	})
}
