// The promise that needs a cluster without the CRD, B10 or T12: a CRD that is missing at start is waited for.

package acceptance

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/scripts/internal/chapters"
)

func TestMissingCRD(t *testing.T) {
	alone(t, chapters.Foo, "B10 bad input: a CRD that is missing is waited for", nil, waitForCRD)
}

// missingCRD is what a program may say. An exercise leaves that to its libraries.
func missingCRD(j judged) []string {
	words := []string{"is the CRD applied"}
	if !j.isFull() {
		words = append(words, "could not find the requested resource", "it should be installed")
	}
	return words
}

func waitForCRD(t *testing.T, s *scenario) {
	// Deleting a CRD deletes every object of its kind: only when there is none.
	s.eventually("no object of the kind is left in the cluster", func() error {
		list, err := s.dynamic.Resource(resources[s.Kind]).List(s.Context(), metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			return fmt.Errorf("there are %d", len(list.Items))
		}
		return err
	})
	delete(s.applied, s.Kind) // whatever becomes of this test, the next one has a CRD
	_, err := s.kubectl.Run(s.Context(), "delete", "--wait", "-f", s.program.CRD)
	s.must(err)

	s.start()
	s.eventually("the program says what is missing", func() error {
		if !slices.ContainsFunc(missingCRD(s.judged), s.operator.says) {
			return errors.New("not a word of it")
		}
		return nil
	})
	s.must(s.kubectl.ApplyCRD(s.Context(), s.program.CRD))
	s.sentinel("a")
	if crashes := s.operator.Crashes(); crashes > 0 {
		t.Errorf("the program has exited %d times", crashes)
	}
}
