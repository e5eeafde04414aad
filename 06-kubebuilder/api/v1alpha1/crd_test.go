// The generated CRD means the same to the API server as the handwritten one of the earlier
// chapters, testdata/crd.yaml.

package v1alpha1

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

const generated = "../../config/crd/bases/samplecontroller.k8s.io_foos.yaml"

func TestTheCRDIsThatOfTheEarlierChapters(t *testing.T) {
	earlier, now := meaningOf(t, text(t, "testdata/crd.yaml")), meaningOf(t, text(t, generated))
	if difference := gocmp.Diff(earlier, now); difference != "" {
		t.Errorf("the CRD of the earlier chapters (-) and the generated one (+):\n%s", difference)
	}
}

// The check above can fail: each of these CRDs differs from ours by one change.
func TestADifferentCRDIsFound(t *testing.T) {
	for sentence, change := range map[string][2]string{
		"the rule for the Foo's name is gone":      {"<= 63", "<= 64"},
		"a longer deploymentName is allowed":       {"maxLength: 63", "maxLength: 64"},
		"a default is missing":                     {"default: 1", ""},
		"the status is no subresource":             {"      status: {}", ""},
		"the scale reads another field":            {"statusReplicasPath: .status.availableReplicas", "statusReplicasPath: .status.replicas"},
		"a column has another name":                {"name: Desired", "name: Wanted"},
		"another field is selectable":              {"jsonPath: .spec.deploymentName\n    served", "jsonPath: .spec.replicas\n    served"},
		"a required field is optional":             {"- deploymentName", "- replicas"},
		"the group's approval is missing":          {"api-approved.kubernetes.io", "approved.example.com"},
		"a condition's reason has another pattern": {"pattern: ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$", "pattern: ^[A-Z]+$"},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := strings.Replace(text(t, generated), change[0], change[1], 1)
			if changed == text(t, generated) {
				t.Fatalf("our CRD has no %q", change[0])
			}
			if gocmp.Equal(meaningOf(t, text(t, "testdata/crd.yaml")), meaningOf(t, changed)) {
				t.Error("the comparison finds no difference, want one")
			}
		})
	}
}

// meaningOf returns a CRD without the parts that the API server ignores: descriptions, the
// generator's version, and the order of lists that are sets.
func meaningOf(t *testing.T, text string) map[string]any {
	t.Helper()
	var crd map[string]any
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil {
		t.Fatal(err)
	}
	delete(at(crd, "metadata", "annotations"), "controller-gen.kubebuilder.io/version")
	version := at(crd, "spec")["versions"].([]any)[0].(map[string]any)
	schema := at(version, "schema", "openAPIV3Schema")
	simplify(schema)
	// Patterns of metav1.Condition, which the earlier chapters left out. Their conditions match
	// them.
	condition := at(schema, "properties", "status", "properties", "conditions", "items", "properties")
	for field, pattern := range map[string]string{
		"reason": `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`,
		"type":   `^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`,
	} {
		if at(condition, field)["pattern"] == pattern {
			delete(at(condition, field), "pattern")
		}
	}
	return crd
}

// simplify removes the parts that the API server ignores, from a schema and from those in it.
func simplify(schema map[string]any) {
	delete(schema, "description")
	if required, found := schema["required"].([]any); found {
		slices.SortFunc(required, func(a, b any) int { return cmp.Compare(a.(string), b.(string)) })
	}
	if properties, found := schema["properties"].(map[string]any); found {
		for _, property := range properties {
			simplify(property.(map[string]any))
		}
	}
	if items, found := schema["items"].(map[string]any); found {
		simplify(items)
	}
}

// at returns the object at that path, or an empty one.
func at(object map[string]any, path ...string) map[string]any {
	for _, field := range path {
		object, _ = object[field].(map[string]any)
	}
	return object
}

func text(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
