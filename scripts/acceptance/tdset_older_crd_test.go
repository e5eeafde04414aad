package acceptance

// The promise T12 for objects that were stored before a rule was added. The CRD can't refuse them
// any more, so the program must report what is wrong.

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
)

func TestTDSetsFromAnOlderCRD(t *testing.T) {
	const name = "T12 bad input: if an older CRD accepted it, the status reports it, and the Deployment stays as it was"
	alone(t, chapters.TDSet, name, judged.isFull, func(t *testing.T, s *scenario) {
		s.startAt(at(10, 30))
		s.createTDSet("a", 1, office)
		s.becomesScheduled("a", 2)
		s.operator.Stop()

		strict := s.program.CRD
		s.loosenCRD()
		invalid := s.inVersion(with(tdsetObject("b", 1, office), "Mars/Olympus", "timeZone"))
		_, err := s.objects().Create(s.Context(), invalid, metav1.CreateOptions{})
		s.must(err)
		s.patchTDSet("a", `{"spec":{"schedulingConfig":[
			{"startTime":9,"endTime":24,"replica":3},{"startTime":9,"endTime":24,"replica":4}]}}`)
		s.must(s.kubectl.ApplyCRD(s.Context(), strict))

		s.startAt(at(10, 30))
		s.hasCondition("a", "Degraded", "True (InvalidSchedule)")
		s.hasCondition("b", "Degraded", "True (InvalidSchedule)")
		s.sentinel("later")
		if err := isRolledOut(s.getDeployment("a"), 2); err != nil {
			t.Errorf("the Deployment isn't as it was: %v", err)
		}
		if s.getDeployment("b") != nil {
			t.Error("a Deployment was created for an invalid schedule")
		}

		s.patchTDSet("a", `{"spec":{"schedulingConfig":[{"startTime":9,"endTime":24,"replica":4}]}}`)
		s.patchTDSet("b", `{"spec":{"timeZone":"Europe/Berlin"}}`)
		s.becomesScheduled("a", 4)
		s.becomesScheduled("b", 2)
	})
}

// loosenCRD applies the program's CRD without its rules, like an older one. From now on, that is the
// scenario's CRD.
func (s *scenario) loosenCRD() {
	s.Helper()
	content, err := os.ReadFile(s.program.CRD)
	s.must(err)
	var crd map[string]any
	s.must(yaml.Unmarshal(content, &crd))
	withoutRules(crd)
	loose, err := yaml.Marshal(crd)
	s.must(err)
	delete(s.applied, s.Kind) // if this test fails, the next one applies the CRD again
	s.program.CRD = filepath.Join(s.TempDir(), "crd.yaml")
	s.must(os.WriteFile(s.program.CRD, loose, 0o600))
	s.must(s.kubectl.ApplyCRD(s.Context(), s.program.CRD))
	s.eventually("the API server uses the CRD without its rules", func() error {
		refused := s.inVersion(tdsetObject("loose", 1, window{9, 0, 1}, window{9, 0, 2}))
		_, err := s.objects().Create(s.Context(), refused, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// withoutRules removes CEL rules and patterns from a schema.
func withoutRules(schema any) {
	switch node := schema.(type) {
	case map[string]any:
		delete(node, "x-kubernetes-validations")
		if _, isText := node["pattern"].(string); isText {
			delete(node, "pattern")
		}
		for _, child := range node {
			withoutRules(child)
		}
	case []any:
		for _, child := range node {
			withoutRules(child)
		}
	}
}
