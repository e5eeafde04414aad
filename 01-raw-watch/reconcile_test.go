// The controller on a real API server. The contract (scripts/acceptance) checks what it promises, so
// here are only one Foo's life and the choice of what to delete.

package main

import (
	"context"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// The whole controller: it lists and handles the existing objects, and then watches.
func TestIntegrationLifeOfAFoo(t *testing.T) {
	c := newRealCluster(t)
	foo, web := foosPath(c.namespace)+"/example", deploymentsPath(c.namespace)+"/web"
	eventually := func(sentence string, want ...string) {
		t.Helper()
		c.eventually(sentence, func(context.Context) bool { return slices.Equal(c.deployments(), want) })
	}

	c.create(aFoo("example", "web", 2))
	c.start()
	eventually("a Foo that existed before the controller has its Deployment", "web: 2 × nginx:latest")
	c.eventually("it is ready when its Deployment is", func(context.Context) bool { return c.ready() == "Available" })
	edit(c, web, scaledTo(1))
	eventually("a change by hand is reverted", "web: 2 × nginx:latest")
	edit(c, foo, func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.DeploymentName = "new" })
	eventually("after a rename, the new Deployment replaces the old one", "new: 2 × nginx:latest")
	must(t, c.users.Do(t.Context(), http.MethodDelete, foo, nil, nil, nil))
	eventually("the garbage collector deletes the Deployment of a deleted Foo")
}

// A Foo's former Deployments can't be found by name, and labels say nothing about the owner.
func TestIntegrationOnlyFormerDeploymentsAreDeleted(t *testing.T) {
	c := newRealCluster(t)
	foo, another := aFoo("example", "new", 1), aFoo("another", "theirs", 1)
	c.create(foo)
	c.create(another)
	for _, deployment := range []*appsv1.Deployment{
		deploymentOf(foo, named("former")),
		deploymentOf(foo, named("former-without-labels"), withoutLabels),
		deploymentOf(foo, named("unowned-with-labels"), unowned),
		deploymentOf(another),
	} {
		c.create(deployment)
	}

	must(t, c.syncHandler(t.Context(), types.NamespacedName{Namespace: c.namespace, Name: "example"}))

	want := []string{"new: 1 × nginx:latest", "theirs: 1 × nginx:latest", "unowned-with-labels: 1 × nginx:latest"}
	if diff := cmp.Diff(want, c.deployments()); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}
