// The generated CRD means the same to the API server as the handwritten one of the earlier
// chapters, testdata/crd.yaml.

package v1alpha1

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const generated = "../../config/crd/bases/samplecontroller.k8s.io_foos.yaml"

func TestTheCRDIsThatOfTheEarlierChapters(t *testing.T) {
	earlier, now := readCRD(t, "testdata/crd.yaml"), readCRD(t, generated)
	delete(now.Annotations, "controller-gen.kubebuilder.io/version")
	// Our conditions match the patterns of metav1.Condition, which the earlier chapters left out.
	status := now.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["status"]
	condition := status.Properties["conditions"].Items.Schema.Properties
	for _, name := range []string{"reason", "type"} {
		field := condition[name]
		field.Pattern = ""
		condition[name] = field
	}

	ignored := cmp.Options{
		cmpopts.IgnoreFields(apiextensionsv1.JSONSchemaProps{}, "Description"),
		cmpopts.SortSlices(strings.Compare), // required is a set
	}
	if difference := cmp.Diff(earlier, now, ignored); difference != "" {
		t.Errorf("the CRD of the earlier chapters (-) and the generated one (+):\n%s", difference)
	}
}

func readCRD(t *testing.T, file string) (crd apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		t.Fatal(err)
	}
	return crd
}
