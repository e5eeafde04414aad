//go:build check || solution

// One Pool's life on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestAPoolsLife/a Pool gets as many Pods as it asks for
// says: not written yet

package main

import (
	"testing"

	"example.com/operators/07-tdset-operator/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestAPoolsLife(t *testing.T) {
	stage := operatortest.Start(t, "manifests/crd.yaml")
	stage("a Pool gets as many Pods as it asks for", func(t *operatortest.T) {
		t.Create("pools", "manifests/pool.yaml")
		for _, name := range []string{"workers-0", "workers-1"} {
			t.IsOwnedBy("pods", name, "Pool workers")
			t.Has("pods", name, ".spec.containers[0].image", "nginx:1.28")
		}
	})
	stage("the status says when they are ready", func(t *operatortest.T) {
		t.HasCondition("pools", "workers", "Ready", "True")
		t.Has("pools", "workers", ".status.readyPods", "2")
		t.Has("pools", "workers", ".status.observedGeneration", "1")
	})
	stage("it grows, and keeps the Pods that it has", func(t *operatortest.T) {
		before := uid(t, "workers-0")
		t.Patch("pools", "workers", `{"spec": {"size": 3}}`)
		t.IsOwnedBy("pods", "workers-2", "Pool workers")
		t.Has("pools", "workers", ".status.readyPods", "3")
		t.Has("pods", "workers-0", ".metadata.uid", before)
	})
	stage("it shrinks, from the highest number down", func(t *operatortest.T) {
		before := uid(t, "workers-0")
		t.Patch("pools", "workers", `{"spec": {"size": 1}}`)
		t.IsGone("pods", "workers-2")
		t.IsGone("pods", "workers-1")
		t.Has("pools", "workers", ".status.readyPods", "1")
		t.HasCondition("pools", "workers", "Ready", "True")
		t.Has("pods", "workers-0", ".metadata.uid", before)
	})
	stage("a deleted Pod is created again", func(t *operatortest.T) {
		before := uid(t, "workers-0")
		t.Delete("pods", "workers-0")
		t.Changes("pods", "workers-0", ".metadata.uid", before)
	})
	stage("a Pod that has failed is replaced", func(t *operatortest.T) {
		before := uid(t, "workers-0")
		t.Patch("pods", "workers-0", `{"status": {"phase": "Failed", "reason": "Evicted"}}`, "status") // as the kubelet does
		t.Changes("pods", "workers-0", ".metadata.uid", before)
	})
	stage("a Pod with another image is replaced", func(t *operatortest.T) {
		before := uid(t, "workers-0")
		t.Patch("pools", "workers", `{"spec": {"image": "nginx:1.29"}}`)
		t.Changes("pods", "workers-0", ".metadata.uid", before)
		t.Has("pods", "workers-0", ".spec.containers[0].image", "nginx:1.29")
	})
	stage("somebody else's Pod stays as it is, and the status says so", func(t *operatortest.T) {
		// It has another image, and a number that the Pool doesn't ask for yet.
		t.Create("pods", "testdata/pod.yaml")
		before := uid(t, "workers-1")
		t.Patch("pools", "workers", `{"spec": {"size": 2}}`)
		t.HasCondition("pools", "workers", "Ready", "False")
		t.Has("pools", "workers", ".status.observedGeneration", "5")
		t.HasCondition("pools", "workers", "Ready", "False")
		t.Has("pods", "workers-1", ".metadata.uid", before)
		t.Has("pods", "workers-1", ".metadata.ownerReferences", "")
		t.Has("pods", "workers-1", ".metadata.deletionTimestamp", "")
	})
	stage("when the name becomes free, the Pool gets it", func(t *operatortest.T) {
		t.Delete("pods", "workers-1")
		t.IsOwnedBy("pods", "workers-1", "Pool workers")
		t.HasCondition("pools", "workers", "Ready", "True")
	})
}

// uid waits until a Pod is Ready, and returns its UID, which says whether it is still the same Pod.
func uid(t *operatortest.T, name string) string {
	t.Helper()
	t.HasCondition("pods", name, "Ready", "True")
	return t.Get("pods", name, ".metadata.uid")
}
