// Your CRD's schema has a status, so you expect Status().Update to write it. But without
// `subresources: {status: {}}` there is no such endpoint: the server returns 404, as if the object
// didn't exist. And anyone who may write the spec may write the status too, and each change of it
// counts as a new generation.
//
// Declare the subresource. Then users write the spec, the controller writes the status, and each
// needs a permission of its own.

package pitfalls

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/05-controller-runtime/test/testenv"
)

func TestStatusSubresource(t *testing.T) {
	for _, test := range []struct {
		sentence, subresources string
		wantNotFound           bool
		wantReplicas           int64 // in the status, after a user has tried to set 9
		wantGeneration         int64
	}{
		{"wrong: the CRD has no subresource", "", true, 9, 2},
		{"right: the CRD has one", "status: {}", false, 1, 1},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			crd, foo := newCRD(t, c, test.subresources)
			_, err := envtest.InstallCRDs(c.Config, crd)
			must(t, err)
			must(t, c.Create(t.Context(), foo))
			setReplicas := func(n int64) {
				must(t, unstructured.SetNestedField(foo.Object, n, "status", "availableReplicas"))
			}

			setReplicas(1)
			err = c.Status().Update(t.Context(), foo)
			t.Logf("Status().Update with 1: %v", err)
			if apierrors.IsNotFound(err) != test.wantNotFound || !test.wantNotFound && err != nil {
				t.Errorf("Status().Update returned %v; want NotFound: %v", err, test.wantNotFound)
			}

			setReplicas(9)
			must(t, c.Update(t.Context(), foo))
			must(t, c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
			replicas, _, _ := unstructured.NestedInt64(foo.Object, "status", "availableReplicas")
			generation := foo.GetGeneration()
			t.Logf("after Update with 9: availableReplicas %d, generation %d", replicas, generation)
			if replicas != test.wantReplicas || generation != test.wantGeneration {
				t.Errorf("got %d, generation %d; want %d, generation %d",
					replicas, generation, test.wantReplicas, test.wantGeneration)
			}
		})
	}
}

// newCRD returns this chapter's CRD and a Foo. The group is the test's own, because all tests share
// the API server.
func newCRD(t *testing.T, c testenv.Cluster, subresources string) (
	envtest.CRDInstallOptions, *unstructured.Unstructured,
) {
	t.Helper()
	group := c.Namespace + ".example.com"
	text, err := os.ReadFile("../manifests/crd.yaml")
	must(t, err)
	crd := strings.ReplaceAll(string(text), samplecontrollerv1alpha1.GroupVersion.Group, group)
	crd = strings.ReplaceAll(crd, "status: {}", subresources)
	file := filepath.Join(t.TempDir(), "crd.yaml")
	must(t, os.WriteFile(file, []byte(crd), 0o600))
	foo := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + samplecontrollerv1alpha1.GroupVersion.Version,
		"kind":       "Foo",
		"metadata":   map[string]any{"namespace": c.Namespace, "name": "a"},
		"spec":       map[string]any{"deploymentName": "a"},
	}}
	return envtest.CRDInstallOptions{Paths: []string{file}, MaxTime: time.Minute}, foo
}
