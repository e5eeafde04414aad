// What a CRD that lacks something, or isn't there yet, costs people. The CRDs here are this chapter's, in groups of the tests' own: the API
// server is shared. It is a real one.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func TestAStatusWithoutItsSubresource(t *testing.T) {
	for _, test := range []struct { // in the order of the README
		sentence, crd, group string
		endpoint             bool
	}{
		{"the CRD has no subresource status", strings.Replace(crdText(t), "status: {}", "", 1), "without.example.com", false},
		{"the CRD has one", crdText(t), "with.example.com", true},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			config, api, namespace := newAPIServer(t)
			_, err := envtest.InstallCRDs(config, crdIn(t, test.crd, test.group))
			must(t, err)
			foo := fooOf(test.group, namespace)
			must(t, api.Create(t.Context(), foo))

			must(t, unstructured.SetNestedField(foo.Object, int64(1), "status", "availableReplicas"))
			err = api.Status().Update(t.Context(), foo)
			t.Logf("an update of the status: %v", err)
			if test.endpoint && err != nil || !test.endpoint && !apierrors.IsNotFound(err) {
				t.Errorf("the server answers %v", err)
			}

			must(t, unstructured.SetNestedField(foo.Object, int64(9), "status", "availableReplicas"))
			must(t, api.Update(t.Context(), foo)) // as anybody may who may write the spec
			must(t, api.Get(t.Context(), client.ObjectKeyFromObject(foo), foo))
			replicas, _, _ := unstructured.NestedInt64(foo.Object, "status", "availableReplicas")
			t.Logf("after an update of the object that says 9, its status says %d", replicas)
			if believed := replicas == 9; believed == test.endpoint {
				t.Errorf("the status can be written with the object: %v, want %v", believed, !test.endpoint)
			}
		})
	}
}

// envtest's InstallCRDs creates CRDs and waits until the server serves their kinds. First without the waiting.
func TestBeforeTheCRDIsThere(t *testing.T) {
	config, api, namespace := newAPIServer(t)
	file := crdIn(t, crdText(t), "along.example.com")
	foo := fooOf("along.example.com", namespace)

	t.Run("an object that is applied along with it", func(t *testing.T) {
		// kubectl asks this about all objects of a file before it sends the first: which endpoint has this kind?
		_, err := api.RESTMapper().RESTMapping(foo.GroupVersionKind().GroupKind(), foo.GroupVersionKind().Version)
		t.Logf("before the CRD is created: %v", err)
		if !meta.IsNoMatchError(err) {
			t.Errorf("the mapper answers %v", err)
		}

		must(t, envtest.ReadCRDFiles(&file))
		must(t, envtest.CreateCRDs(config, file.CRDs))
		established := false // by what the server answered
		for _, condition := range file.CRDs[0].Status.Conditions {
			established = established || condition.Type == "Established" && condition.Status == "True"
		}
		t.Logf("it is created; established: %v", established)
		if established {
			t.Error("a CRD is established at once: nothing need be waited for")
		}
	})

	t.Run("an object that is applied once its kind is served", func(t *testing.T) {
		_, err := envtest.InstallCRDs(config, file)
		must(t, err)
		err = api.Create(t.Context(), foo)
		t.Logf("the object is created: error %v", err)
		must(t, err)
	})

	t.Run("a program that is started before it", func(t *testing.T) {
		mgr := newTestManager(t, config, namespace, nil)
		err := mgr.GetFieldIndexer().IndexField(t.Context(), fooOf("missing.example.com", namespace), "spec.deploymentName",
			func(client.Object) []string { return nil })
		t.Logf("an index of its kind: %v", err)
		if !meta.IsNoMatchError(err) {
			t.Errorf("the index is made: %v", err)
		}
	})
}

// crdIn returns what makes envtest take the CRD in text, with another group.
func crdIn(t *testing.T, text, group string) envtest.CRDInstallOptions {
	t.Helper()
	file := filepath.Join(t.TempDir(), "crd.yaml")
	must(t, os.WriteFile(file, []byte(strings.ReplaceAll(text, v1alpha1.GroupVersion.Group, group)), 0o600))
	return envtest.CRDInstallOptions{Paths: []string{file}, MaxTime: time.Minute, PollInterval: 100 * time.Millisecond}
}

// fooOf returns a Foo of that group.
func fooOf(group, namespace string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": group + "/" + v1alpha1.GroupVersion.Version,
		"kind":       "Foo",
		"metadata":   map[string]any{"namespace": namespace, "name": "a"},
		"spec":       map[string]any{"deploymentName": "a"},
	}}
}
