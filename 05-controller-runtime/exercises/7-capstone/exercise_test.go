//go:build check || solution

// One Foo's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAFoosLife/a Foo gets the Deployment that it asks for
// says: not written yet

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
		t.IsOwnedBy("deployments", "a", "Foo foo")
	})
	stage("the status says when it is ready", func(t *operatortest.T) {
		t.HasCondition("foos", "foo", "Ready", "True")
		t.Has("foos", "foo", ".status.availableReplicas", "1")
	})
	stage("a change to the Foo reaches the Deployment", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"spec": {"replicas": 2}}`)
		t.Has("deployments", "a", ".spec.replicas", "2")
		t.Has("foos", "foo", ".status.availableReplicas", "2")
	})
	stage("a change to the Deployment is reverted", func(t *operatortest.T) {
		t.Patch("deployments", "a", `{"spec": {"replicas": 7}}`)
		t.Has("deployments", "a", ".spec.replicas", "2")
	})
	stage("a deleted Deployment is created again", func(t *operatortest.T) {
		before := t.Get("deployments", "a", ".metadata.uid")
		t.Delete("deployments", "a")
		t.Changes("deployments", "a", ".metadata.uid", before)
		t.Has("deployments", "a", ".spec.replicas", "2")
	})
	stage("a renamed Deployment replaces the former one", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"spec": {"deploymentName": "b"}}`)
		t.Has("deployments", "b", ".spec.replicas", "2")
		t.IsGone("deployments", "a")
	})
	stage("another Foo's Deployment stays as it is, and the status says so", func(t *operatortest.T) {
		t.Create("foos", manifests+"foo.yaml", "metadata.name=late", "spec.deploymentName=b")
		t.HasCondition("foos", "late", "Ready", "False ErrResourceExists")
		t.Has("deployments", "b", ".spec.replicas", "2")
		t.IsOwnedBy("deployments", "b", "Foo foo")
	})
	stage("when a name becomes free, the Foo that waits for it gets it", func(t *operatortest.T) {
		t.Patch("foos", "foo", `{"spec": {"deploymentName": "c"}}`)
		t.IsOwnedBy("deployments", "c", "Foo foo")
		t.IsOwnedBy("deployments", "b", "Foo late")
		t.HasCondition("foos", "late", "Ready", "True")
	})
	stage("as long as the new name isn't free, the former Deployment stays", func(t *operatortest.T) {
		t.HasCondition("foos", "foo", "Ready", "True")
		before := t.Get("deployments", "c", ".metadata.uid")
		t.Patch("foos", "foo", `{"spec": {"deploymentName": "b"}}`)
		t.HasCondition("foos", "foo", "Ready", "False")
		t.Has("deployments", "c", ".metadata.uid", before)
	})
	stage("the status says why a write is refused, and when that ends, the Foo gets its Deployment", func(t *operatortest.T) {
		t.Create("resourcequotas", `{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/deployments.apps: "0"}}}`)
		t.Has("resourcequotas", "none", `.status.hard.count/deployments\.apps`, "0") // it is in force
		t.Create("foos", manifests+"foo.yaml", "metadata.name=unlucky", "spec.deploymentName=d")
		t.HasCondition("foos", "unlucky", "Ready", "False Refused")
		t.Delete("resourcequotas", "none")
		t.IsOwnedBy("deployments", "d", "Foo unlucky")
		t.HasCondition("foos", "unlucky", "Ready", "True")
	})
}
