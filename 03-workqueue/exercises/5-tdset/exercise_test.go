//go:build check || solution

// TestOneDay runs the program on a real API server, in stages. Each stage needs the ones before
// it. TestQueue checks what processNextWorkItem tells the queue after a success.
//
// As given, the program processes each TDSet only once:
//
// fails: TestQueue
// says: after a success, the queue still counts 3 failures of the key
//
// fails: TestOneDay/the status says when all replicas are available
// says: tdsets "day" has the condition Ready: True AsScheduled from hour 7 to 9

package main

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/operators/03-workqueue/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

// The work on a key whose TDSet is gone always succeeds, and the key is never due again.
func TestQueue(t *testing.T) {
	c, err := newController(t.Context(), &rest.Config{}, "", shiftedClock{})
	if err != nil {
		t.Fatal(err)
	}
	key := types.NamespacedName{Namespace: "temp", Name: "gone"}
	for range 3 { // failures
		c.queue.AddRateLimited(key)
	}
	c.processNextWorkItem(t.Context())
	if failures := c.queue.NumRequeues(key); failures > 0 {
		t.Errorf("after a success, the queue still counts %d failures of the key, so the next failure is retried late", failures)
	}
	if c.queue.Len() > 0 {
		t.Error("the TDSet is gone, and its key is queued again: the zero time means never")
	}
}

const othersDeployment = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: theirs}, spec: {selector: {matchLabels: {app: theirs}},
	template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: app, image: nginx}]}}}}`

func TestOneDay(t *testing.T) {
	const example = "manifests/tdset.yaml" // from 7 to 9 it asks for 3 replicas, and from 9 to 17 for 5
	stage := operatortest.Start(t, "manifests/crd.yaml", "--now=2026-03-02T08:59:53Z")
	stage("a TDSet gets its Deployment, with the replicas of the hour", func(t *operatortest.T) {
		t.Create("tdsets", example, "metadata.name=day")
		t.Has("deployments", "day", ".spec.replicas", "3")
		t.IsOwnedBy("deployments", "day", "TDSet day")
	})
	stage("the status says when all replicas are available", func(t *operatortest.T) {
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 7 to 9")
		t.Has("tdsets", "day", ".status.observedGeneration", "1")
	})
	stage("at nine, the Deployment is scaled, although no object has changed", func(t *operatortest.T) {
		t.Has("deployments", "day", ".spec.replicas", "5")
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 9 to 17")
	})
	stage("between two boundaries, nothing is written", func(t *operatortest.T) {
		written := t.Get("tdsets", "day", ".metadata.resourceVersion")
		spec := t.Get("deployments", "day", ".metadata.generation")
		time.Sleep(2 * time.Second)
		t.Has("tdsets", "day", ".metadata.resourceVersion", written)
		t.Has("deployments", "day", ".metadata.generation", spec)
	})
	stage("a new image is rolled out", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"spec": {"container": {"image": "another"}}}`)
		t.Has("deployments", "day", ".spec.template.spec.containers[0].image", "another")
	})
	stage("a new schedule applies at once", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"spec": {"schedulingConfig": [{"startTime": 8, "endTime": 20, "replica": 7}]}}`)
		t.Has("deployments", "day", ".spec.replicas", "7")
	})
	stage("a manual change is reverted, but the fields that others have added stay", func(t *operatortest.T) {
		t.Patch("deployments", "day", `{"metadata": {"annotations": {"team": "blue"}}, "spec": {"replicas": 1}}`)
		t.Has("deployments", "day", ".spec.replicas", "7")
		t.Has("deployments", "day", ".metadata.annotations.team", "blue")
	})
	stage("a deleted Deployment is created again", func(t *operatortest.T) {
		before := t.Get("deployments", "day", ".metadata.uid")
		t.Delete("deployments", "day")
		t.Changes("deployments", "day", ".metadata.uid", before)
	})
	stage("someone else's Deployment is left alone, and the status says so", func(t *operatortest.T) {
		t.Create("deployments", othersDeployment)
		t.Create("tdsets", example, "metadata.name=theirs")
		t.HasCondition("tdsets", "theirs", "Ready", "False ErrResourceExists")
		t.Has("deployments", "theirs", ".spec.replicas", "1")
		t.Has("deployments", "theirs", ".metadata.ownerReferences", "")
	})
	stage("once it is deleted, the TDSet gets its own", func(t *operatortest.T) {
		// The status above is a write, and so an event. When a TDSet that is created after it has its
		// Deployment, that event was handled.
		t.Create("tdsets", example, "metadata.name=another")
		t.IsOwnedBy("deployments", "another", "TDSet another")
		t.Delete("deployments", "theirs")
		t.IsOwnedBy("deployments", "theirs", "TDSet theirs")
	})
	stage("the status says why a write is refused, and when that ends, the TDSet gets its Deployment", func(t *operatortest.T) {
		t.Create("resourcequotas", `{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/deployments.apps: "0"}}}`)
		t.Has("resourcequotas", "none", `.status.hard.count/deployments\.apps`, "0") // it is in force
		t.Create("tdsets", example, "metadata.name=unlucky")
		t.HasCondition("tdsets", "unlucky", "Ready", "False Refused")
		t.Delete("resourcequotas", "none")
		t.IsOwnedBy("deployments", "unlucky", "TDSet unlucky")
	})
	stage("a TDSet that is being deleted gets nothing", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"metadata": {"finalizers": ["example.com/wait"]}}`)
		defer t.Patch("tdsets", "day", `{"metadata": {"finalizers": null}}`) // even if the test fails
		t.Delete("tdsets", "day")
		t.Delete("deployments", "day")
		// When a TDSet that is created after that has its Deployment, the deletion was handled.
		t.Create("tdsets", example, "metadata.name=last")
		t.IsOwnedBy("deployments", "last", "TDSet last")
		t.IsGone("deployments", "day")
	})
}
