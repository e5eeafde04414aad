//go:build check || solution

// One Foo's life on a real API server, in stages. Each stage needs the ones before it. The first two
// pass as given, and each of the next four finds one bug. Only the judge finds the fifth.
//
// fails: TestAFoosLife/a renamed Deployment replaces the former one
// says: deployments "a" is deleted: not within

package main

import (
	"testing"

	"example.com/operators/05-controller-runtime/test/operatortest"
)

const manifests = "../../manifests/"

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestAFoosLife(t *testing.T) {
	stage := operatortest.Start(t, manifests+"crd.yaml")
	stage("a Foo gets the Deployment that it asks for", func(t *operatortest.T) {
		t.Create("foos", manifests+"foo.yaml", "metadata.name=foo", "spec.deploymentName=a")
		t.Has("deployments", "a", ".spec.replicas", "1")
		t.HasCondition("foos", "foo", "Ready", "True")
	})
	stage("a change to the Foo reaches the Deployment", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"spec": {"replicas": 2}}`)
		t.Has("foos", "foo", ".status.availableReplicas", "2")
	})
	stage("a renamed Deployment replaces the former one", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"spec": {"deploymentName": "b"}}`)
		t.Has("deployments", "b", ".spec.replicas", "2")
		t.IsGone("deployments", "a")
	})
	stage("other people's annotations survive an update", func(t *operatortest.T) {
		t.Patch("deployments", "b", `{"metadata": {"annotations": {"team": "payments"}}}`)
		t.Patch("foos", "foo", `{"spec": {"replicas": 3}}`)
		t.Has("foos", "foo", ".status.availableReplicas", "3")
		t.Has("deployments", "b", ".metadata.annotations.team", "payments")
	})
	stage("another Foo's Deployment isn't scaled", func(t *operatortest.T) {
		t.Create("foos", manifests+"foo.yaml", "metadata.name=late", "spec.deploymentName=b")
		t.HasCondition("foos", "late", "Ready", "False ErrResourceExists")
		t.Has("deployments", "b", ".spec.replicas", "3")
		t.IsOwnedBy("deployments", "b", "Foo foo")
	})
	stage("a Foo that is being deleted gets nothing", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
		defer t.Patch("foos", "foo", `{"metadata": {"finalizers": null}}`) // even if the test fails
		t.Delete("foos", "foo")
		t.Delete("foos", "late")
		t.Delete("deployments", "b")
		t.IsGone("deployments", "b")
		// The deletion is an event. When a Foo that is created after it is Ready, it was
		// handled.
		t.Create("foos", manifests+"foo.yaml", "metadata.name=last", "spec.deploymentName=c")
		t.HasCondition("foos", "last", "Ready", "True")
		t.IsGone("deployments", "b")
	})
}
