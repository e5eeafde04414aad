// The CRD and the Go types both describe a Foo, and only this test compares them. (Chapter 06
// generates the CRD from the types.) If only the types have a field, the API server drops it
// without a message. If only the CRD has it, the controller never sees it. crdcompare_test.go does
// the comparison.

package main

import (
	"os"
	"strings"
	"testing"
)

func TestTheCRDMatchesTheTypes(t *testing.T) {
	for _, difference := range differencesOf(t, crdText(t)) {
		t.Error(difference)
	}
}

// The comparison must be able to fail. Each of these CRDs is ours, except for one change.
func TestADifferentCRDIsFound(t *testing.T) {
	for sentence, test := range map[string]struct{ old, new, want string }{
		"another group": {
			"group: samplecontroller.k8s.io", "group: example.com",
			"example.com/v1alpha1, Foo (foos) in the CRD, samplecontroller.k8s.io/v1alpha1, Foo (foos) in the types",
		},
		"a field has another name": {
			"replicas:\n", "replica:\n",
			"spec.replica: in the CRD only; spec.replicas: in the types only",
		},
		"a field of a condition has another name": {
			"reason:\n", "cause:\n",
			"status.conditions[].cause: in the CRD only; status.conditions[].reason: in the types only",
		},
		"a field has another type": {
			"type: string\n                maxLength", "type: boolean\n                maxLength",
			"spec.deploymentName: boolean in the CRD, string in the types",
		},
		"a number has another size": {
			"format: int32\n                minimum", "format: int64\n                minimum",
			"spec.replicas: integer int64 in the CRD, integer int32 in the types",
		},
		"a number has no size": {
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
		"a list contains strings": {
			"items:\n                  type: object", "items:\n                  type: string",
			"status.conditions[]: string in the CRD, object in the types",
		},
		"a required field is optional": {
			"required: [deploymentName]", "",
			"spec.deploymentName: optional in the CRD, always written by the types",
		},
		"an optional field is required": {
			"required: [deploymentName]", "required: [deploymentName, replicas]",
			"spec.replicas: required in the CRD, omitempty in the types",
		},
		"the minimum is lower": {
			"minimum: 1", "minimum: 0",
			"spec.replicas: 0 is allowed by the CRD: true, by the types: false",
		},
		"there is no maximum": {
			"maximum: 10", "",
			"spec.replicas: 11 is allowed by the CRD: true, by the types: false",
		},
		"the maximum is lower": {
			"maximum: 10", "maximum: 9",
			"spec.replicas: 10 is allowed by the CRD: false, by the types: true",
		},
		"another default": {
			"default: 1", "default: 2",
			"spec.replicas: the default is 2 in the CRD, 1 in the controller",
		},
		"a name may be longer": {
			"maxLength: 63\n", "maxLength: 64\n",
			`spec.deploymentName: "` + strings.Repeat("a", 64) + `" is allowed by the CRD: true, a DNS-1123 label: false`,
		},
		"a name may begin with a dash": {
			"pattern: ^[a-z0-9](", "pattern: ^[-a-z0-9](",
			`spec.deploymentName: "-web" is allowed by the CRD: true, a DNS-1123 label: false`,
		},
		"a name needs two letters": {
			"[a-z0-9])?$", "[a-z0-9])$",
			`spec.deploymentName: "a" is allowed by the CRD: false, a DNS-1123 label: true`,
		},
		"the list of conditions has a single owner": {
			"x-kubernetes-list-type: map", "x-kubernetes-list-type: atomic",
			"status.conditions: the CRD doesn't declare a map by type",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			changed := strings.Replace(crdText(t), test.old, test.new, 1)
			if changed == crdText(t) {
				t.Fatalf("manifests/crd.yaml doesn't contain %q", test.old)
			}
			if got := strings.Join(differencesOf(t, changed), "; "); got != test.want {
				t.Errorf("got the differences\n%s\nwant\n%s", got, test.want)
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
