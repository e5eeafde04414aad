// The promise that needs a cluster without the CRD (B10 or T12): the program logs that the CRD is
// missing, and works once it is there. From chapter 05 on, it may exit and be restarted until then.

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
	withoutCRD(t, chapters.Foo, "B10 bad input: the program says that the CRD is missing")
}

// missingCRD are the messages that count. Some programs leave the logging to their libraries.
var missingCRD = []string{"is the CRD applied", "could not find the requested resource", "it should be installed"}

// withoutCRD judges the programs with the same CRD at once, because each checks for it at its own
// interval.
func withoutCRD(t *testing.T, kind, name string) {
	env := testEnvironment(t)
	groups, err := sameCRD(env.programsFor(kind, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range groups {
		t.Run(group[0].chapter.Name, func(t *testing.T) {
			t.Run(name, func(t *testing.T) { waitForCRD(t, env, group) })
		})
	}
}

// waitForCRD starts the programs without the CRD, and creates it when all have logged that it is
// missing.
func waitForCRD(t *testing.T, env *environment, group []judged) {
	if err := env.apply(t.Context(), group[0].program); err != nil {
		t.Fatal(err)
	}
	var all []*scenario
	for _, j := range group {
		all = append(all, newScenario(t, env, j))
	}
	all[0].deleteCRD()
	for _, s := range all {
		s.start()
	}
	for _, s := range all {
		s.eventually(s.program.Name+" logs what is missing", func() error {
			if !slices.ContainsFunc(missingCRD, s.operator.hasLogged) {
				return errors.New("its log doesn't mention it")
			}
			return nil
		})
	}
	all[0].must(env.kubectl.ApplyCRD(t.Context(), group[0].program.CRD))
	for _, s := range all {
		t.Run(s.chapter.Name, func(t *testing.T) { s.startsWork(t) })
	}
}

// deleteCRD deletes the kind's CRD, when no object is left that would be deleted with it.
func (s *scenario) deleteCRD() {
	s.Helper()
	s.eventually("no object of the kind is left in the cluster", func() error {
		list, err := s.dynamic.Resource(s.resource()).List(s.Context(), metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			return fmt.Errorf("there are %d", len(list.Items))
		}
		return err
	})
	delete(s.applied, s.Kind) // if this test fails, the next one applies the CRD again
	_, err := s.kubectl.Run(s.Context(), "delete", "--wait", "-f", s.program.CRD)
	s.must(err)
}

// startsWork checks, in a subtest, that the program works once the CRD exists. The programs of
// chapters 01 to 04 must do so without a restart.
func (s *scenario) startsWork(t *testing.T) {
	judged := *s
	judged.TB = t
	judged.sentinel("a")
	if crashes := s.operator.Crashes(); crashes > 0 && s.chapter.Number() < "05" {
		t.Errorf("the program has exited %d times", crashes)
	}
}
