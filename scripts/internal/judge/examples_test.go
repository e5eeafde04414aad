package judge_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/testkit"
)

// The API server accepts the CRDs and samples of the examples. Here they have other names, because the
// cluster may have the chapters' CRDs of the same names.
func TestTheExamplesAreAccepted(t *testing.T) {
	config, _ := testkit.Cluster(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	crds := client.Resource(schema.GroupVersionResource{
		Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions",
	})
	for _, folder := range []string{"sample-controller", "tdset-operator"} {
		t.Run(folder, func(t *testing.T) {
			crd := readExample(t, folder, "crd.yaml")
			group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
			crd.SetName("examples." + group)
			crd.Object["spec"].(map[string]any)["names"] = map[string]any{"plural": "examples", "kind": "Example"}
			if _, err := crds.Create(t.Context(), crd, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = crds.Delete(context.Background(), crd.GetName(), metav1.DeleteOptions{}) })

			sample := readExample(t, folder, "sample.yaml")
			resource := sample.GroupVersionKind().GroupVersion().WithResource("examples")
			sample.SetKind("Example")
			testkit.Await(t, time.Minute, "the sample is accepted", func() error {
				_, err := client.Resource(resource).Namespace(metav1.NamespaceDefault).
					Create(t.Context(), sample, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				return err
			})
		})
	}
}

func readExample(t *testing.T, folder, file string) *unstructured.Unstructured {
	content, err := os.ReadFile(filepath.Join("..", "..", "judge", "examples", folder, file))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, object); err != nil {
		t.Fatal(err)
	}
	return object
}
