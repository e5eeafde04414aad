//go:build check || solution

// One Foo's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAFoosLife/a Foo gets the Deployment that it asks for
// says: not written yet

package main

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

const manifests = "../../manifests/"

var (
	foos   = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}
	quotas = schema.GroupVersionResource{Version: "v1", Resource: "resourcequotas"}
)

func TestAFoosLife(t *testing.T) {
	runStages(t, manifests+"crd.yaml", []stage{
		{"a Foo gets the Deployment that it asks for", func(t *testing.T, w *world) {
			w.create(t, foos, manifests+"foo.yaml", named("foo", "a"))
			w.has(t, deployments, "a", 1, "spec", "replicas")
			w.isOwnedBy(t, deployments, "a", "Foo", "foo")
		}},
		{"the status says when it is ready", func(t *testing.T, w *world) {
			w.hasCondition(t, foos, "foo", "Ready", "True")
			w.has(t, foos, "foo", 1, "status", "availableReplicas")
		}},
		{"a change to the Foo reaches the Deployment", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"spec": {"replicas": 2}}`)
			w.has(t, deployments, "a", 2, "spec", "replicas")
			w.has(t, foos, "foo", 2, "status", "availableReplicas")
		}},
		{"a change to the Deployment is reverted", func(t *testing.T, w *world) {
			w.patch(t, deployments, "a", `{"spec": {"replicas": 7}}`)
			w.has(t, deployments, "a", 2, "spec", "replicas")
		}},
		{"a deleted Deployment is created again", func(t *testing.T, w *world) {
			before, err := w.get(t, deployments, "a")
			if err != nil {
				t.Fatal(err)
			}
			w.delete(t, deployments, "a")
			w.isReplaced(t, deployments, "a", before.GetUID())
			w.has(t, deployments, "a", 2, "spec", "replicas")
		}},
		{"a renamed Deployment replaces the former one", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"spec": {"deploymentName": "b"}}`)
			w.has(t, deployments, "b", 2, "spec", "replicas")
			w.isGone(t, deployments, "a")
		}},
		{"another Foo's Deployment stays as it is, and the status says so", func(t *testing.T, w *world) {
			w.create(t, foos, manifests+"foo.yaml", named("late", "b"))
			w.hasCondition(t, foos, "late", "Ready", "False")
			w.has(t, foos, "late", "ErrResourceExists", "status", "conditions", "0", "reason")
			w.has(t, deployments, "b", 2, "spec", "replicas")
			w.isOwnedBy(t, deployments, "b", "Foo", "foo")
		}},
		{"when a name becomes free, the Foo that waits for it gets it", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"spec": {"deploymentName": "c"}}`)
			w.isOwnedBy(t, deployments, "c", "Foo", "foo")
			w.isOwnedBy(t, deployments, "b", "Foo", "late")
			w.hasCondition(t, foos, "late", "Ready", "True")
		}},
		{"as long as the new name isn't free, the former Deployment stays", func(t *testing.T, w *world) {
			w.hasCondition(t, foos, "foo", "Ready", "True")
			before, err := w.get(t, deployments, "c")
			if err != nil {
				t.Fatal(err)
			}
			w.patch(t, foos, "foo", `{"spec": {"deploymentName": "b"}}`)
			w.hasCondition(t, foos, "foo", "Ready", "False")
			after, err := w.get(t, deployments, "c")
			if err != nil || after.GetUID() != before.GetUID() {
				t.Fatalf("the Foo can't have the Deployment \"b\", but its Deployment \"c\" was deleted (%v)", err)
			}
		}},
		{"the status says why a write is refused, and when that ends, the Foo gets its Deployment", func(t *testing.T, w *world) {
			w.forbidDeployments(t)
			w.create(t, foos, manifests+"foo.yaml", named("unlucky", "d"))
			w.has(t, foos, "unlucky", "Refused", "status", "conditions", "0", "reason")
			w.delete(t, quotas, "none")
			w.isOwnedBy(t, deployments, "d", "Foo", "unlucky")
			w.hasCondition(t, foos, "unlucky", "Ready", "True")
		}},
	})
}

// forbidDeployments creates a quota for no more Deployments, and waits until it is in force.
func (w *world) forbidDeployments(t *testing.T) {
	t.Helper()
	quota := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "ResourceQuota",
		"metadata":   map[string]any{"name": "none"},
		"spec":       map[string]any{"hard": map[string]any{"count/deployments.apps": "0"}},
	}}
	if _, err := w.client.Resource(quotas).Namespace(w.namespace).Create(t.Context(), quota, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.has(t, quotas, "none", "0", "status", "hard", "count/deployments.apps")
}

// named gives a Foo another name, and its Deployment too.
func named(name, deployment string) func(object map[string]any) {
	return func(object map[string]any) {
		object["metadata"].(map[string]any)["name"] = name
		object["spec"].(map[string]any)["deploymentName"] = deployment
	}
}
