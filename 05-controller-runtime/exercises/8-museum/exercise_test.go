//go:build check || solution

// One Foo's life on a real API server, in stages. Each stage needs the ones before it. The first two
// pass as given, and each of the next four finds one bug. Only the judge finds the fifth.
//
// fails: TestAFoosLife/a renamed Deployment replaces the former one
// says: deployments "a" is deleted: not within

package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const manifests = "../../manifests/"

var foos = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}

func TestAFoosLife(t *testing.T) {
	runStages(t, manifests+"crd.yaml", []stage{
		{"a Foo gets the Deployment that it asks for", func(t *testing.T, w *world) {
			w.create(t, foos, manifests+"foo.yaml", named("foo", "a"))
			w.has(t, deployments, "a", 1, "spec", "replicas")
			w.hasCondition(t, foos, "foo", "Ready", "True")
		}},
		{"a change to the Foo reaches the Deployment", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"spec": {"replicas": 2}}`)
			w.has(t, foos, "foo", 2, "status", "availableReplicas")
		}},
		{"a renamed Deployment replaces the former one", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"spec": {"deploymentName": "b"}}`)
			w.has(t, deployments, "b", 2, "spec", "replicas")
			w.isGone(t, deployments, "a")
		}},
		{"other people's annotations survive an update", func(t *testing.T, w *world) {
			w.patch(t, deployments, "b", `{"metadata": {"annotations": {"team": "payments"}}}`)
			w.patch(t, foos, "foo", `{"spec": {"replicas": 3}}`)
			w.has(t, foos, "foo", 3, "status", "availableReplicas")
			w.has(t, deployments, "b", "payments", "metadata", "annotations", "team")
		}},
		{"another Foo's Deployment isn't scaled", func(t *testing.T, w *world) {
			w.create(t, foos, manifests+"foo.yaml", named("late", "b"))
			w.hasCondition(t, foos, "late", "Ready", "False")
			w.has(t, foos, "late", "ErrResourceExists", "status", "conditions", "0", "reason")
			w.has(t, deployments, "b", 3, "spec", "replicas")
			w.isOwnedBy(t, deployments, "b", "Foo", "foo")
		}},
		{"a Foo that is being deleted gets nothing", func(t *testing.T, w *world) {
			w.patch(t, foos, "foo", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
			defer w.patch(t, foos, "foo", `{"metadata": {"finalizers": null}}`) // even if the test fails
			w.delete(t, foos, "foo")
			w.delete(t, foos, "late")
			w.delete(t, deployments, "b")
			w.isGone(t, deployments, "b")
			// The deletion is an event. When a Foo that is created after it is Ready, it was
			// handled.
			w.create(t, foos, manifests+"foo.yaml", named("last", "c"))
			w.hasCondition(t, foos, "last", "Ready", "True")
			w.isGone(t, deployments, "b")
		}},
	})
}

// named gives a Foo another name, and its Deployment too.
func named(name, deployment string) func(object map[string]any) {
	return func(object map[string]any) {
		object["metadata"].(map[string]any)["name"] = name
		object["spec"].(map[string]any)["deploymentName"] = deployment
	}
}
