// The CRD and the Go types say the same of a Foo, each in its own language, and nothing but this
// test compares them. (Chapter 06 writes the one from the other.) A field that only the types have,
// the API server drops without a word; one that only the CRD has, the controller never sees. See
// crdcompare_test.go for how they are compared.

package main

import (
	"os"
	"strings"
	"testing"
)

func TestTheCRDSaysWhatTheTypesSay(t *testing.T) {
	for _, difference := range differencesOf(t, crdText(t)) {
		t.Error(difference)
	}
}

// A check is worth something if it can fail: each of these CRDs is ours but for one change.
func TestADifferentCRDIsFound(t *testing.T) {
	for sentence, test := range map[string]struct{ old, new, want string }{
		"the group is another": {
			"group: samplecontroller.k8s.io", "group: example.com",
			"example.com/v1alpha1, Foo (foos) in the CRD, samplecontroller.k8s.io/v1alpha1, Foo (foos) in the types",
		},
		"a field is called otherwise": {
			"replicas:\n", "replica:\n",
			"spec.replica: in the CRD only; spec.replicas: in the types only",
		},
		"a field of a condition is called otherwise": {
			"reason:\n", "cause:\n",
			"status.conditions[].cause: in the CRD only; status.conditions[].reason: in the types only",
		},
		"a field is of another type": {
			"type: string\n                maxLength", "type: boolean\n                maxLength",
			"spec.deploymentName: boolean in the CRD, string in the types",
		},
		"a number is of another size": {
			"format: int32\n                minimum", "format: int64\n                minimum",
			"spec.replicas: integer int64 in the CRD, integer int32 in the types",
		},
		"a number is of any size": {
			"format: int64\n              conditions", "\n              conditions",
			"status.observedGeneration: integer in the CRD, integer int64 in the types",
		},
		"a time is any string": {
			"format: date-time", "",
			"status.conditions[].lastTransitionTime: string in the CRD, string date-time in the types",
		},
		"a list is an object": {
			"type: array", "type: object",
			"status.conditions: object in the CRD, array in the types",
		},
		"a list is of strings": {
			"items:\n                  type: object", "items:\n                  type: string",
			"status.conditions[]: string in the CRD, object in the types",
		},
		"a field that is required may be missing": {
			"required: [deploymentName]", "",
			"spec.deploymentName: optional in the CRD, always written by the types",
		},
		"a field that may be missing is required": {
			"required: [deploymentName]", "required: [deploymentName, replicas]",
			"spec.replicas: required in the CRD, omitempty in the types",
		},
		"the least number is lower": {
			"minimum: 1", "minimum: 0",
			"spec.replicas: 0 is allowed: true, promised: false",
		},
		"there is no greatest number": {
			"maximum: 10", "",
			"spec.replicas: 11 is allowed: true, promised: false",
		},
		"the greatest number is lower": {
			"maximum: 10", "maximum: 9",
			"spec.replicas: 10 is allowed: false, promised: true",
		},
		"the default is another": {
			"default: 1", "default: 2",
			"spec.replicas: the default isn't 1, as the controller has it",
		},
		"a name may be longer": {
			"maxLength: 63\n", "maxLength: 64\n",
			`spec.deploymentName: "` + strings.Repeat("a", 64) + `" is allowed: true, a DNS-1123 label: false`,
		},
		"a name may begin with a dash": {
			"pattern: ^[a-z0-9](", "pattern: ^[-a-z0-9](",
			`spec.deploymentName: "-web" is allowed: true, a DNS-1123 label: false`,
		},
		"a name must have two letters": {
			"[a-z0-9])?$", "[a-z0-9])$",
			`spec.deploymentName: "a" is allowed: false, a DNS-1123 label: true`,
		},
		"the list of conditions has one owner": {
			"x-kubernetes-list-type: map", "x-kubernetes-list-type: atomic",
			"status.conditions: no map by type",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := strings.Replace(crdText(t), test.old, test.new, 1)
			if changed == crdText(t) {
				t.Fatalf("our CRD has no %q", test.old)
			}
			if got := strings.Join(differencesOf(t, changed), "; "); got != test.want {
				t.Errorf("differences:\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func crdText(t *testing.T) string {
	text, err := os.ReadFile("manifests/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
