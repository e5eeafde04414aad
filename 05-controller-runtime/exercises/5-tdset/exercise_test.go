//go:build check || solution

// TestRequeueAt checks when Reconcile asks to be called again. TestOneDay runs the program on a
// real API server, in stages. Each stage needs the ones before it.
//
// fails: TestRequeueAt
// says: the next boundary is at 17:00, but at 10:00 RequeueAfter is 0s, which is never, want 7h0m0s
//
// fails: TestOneDay/a TDSet gets its Deployment, with the replicas of the hour
// says: deployments "day" has "3" at .spec.replicas

package main

import (
	"testing"
	"time"

	clocktesting "k8s.io/utils/clock/testing"

	"example.com/operators/05-controller-runtime/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

func TestRequeueAt(t *testing.T) {
	ten := time.Date(2026, time.March, 2, 10, 0, 0, 0, time.UTC)
	c := &controller{clock: clocktesting.NewFakePassiveClock(ten)}
	if c.requeueAt(&TDSet{}, ten.Add(7*time.Hour)).RequeueAfter == 0 {
		t.Fatal("the next boundary is at 17:00, but at 10:00 RequeueAfter is 0s, which is never, want 7h0m0s") // the others would fail, too
	}
	for sentence, test := range map[string]struct {
		next     time.Time
		interval int32
		want     time.Duration // 0: never
	}{
		"until the next boundary":                                                  {ten.Add(7 * time.Hour), 0, 7 * time.Hour},
		"a moment before the boundary: a moment":                                   {ten.Add(time.Millisecond), 0, time.Millisecond},
		"the boundary has passed in the meantime: at once":                         {ten.Add(-5 * time.Second), 0, time.Millisecond},
		"no boundary: never":                                                       {time.Time{}, 0, 0},
		"intervalMint is shorter than the time to the boundary: intervalMint":      {ten.Add(time.Hour), 20, 20 * time.Minute},
		"intervalMint is longer than the time to the boundary: until the boundary": {ten.Add(10 * time.Minute), 20, 10 * time.Minute},
		"intervalMint, and no boundary: intervalMint":                              {time.Time{}, 20, 20 * time.Minute},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := c.requeueAt(&TDSet{Spec: TDSetSpec{IntervalMint: test.interval}}, test.next).RequeueAfter
			atOnce := test.next.Before(ten) && 0 < got && got <= time.Second // any such time will do
			switch {
			case got == test.want || atOnce:
			case got <= 0:
				t.Errorf("RequeueAfter is %v, which is never, want %v", got, test.want)
			case got > 24*time.Hour:
				t.Errorf("RequeueAfter is %v, want %v: does requeueAt get the time from c.clock?", got, test.want)
			default:
				t.Errorf("RequeueAfter is %v, want %v", got, test.want)
			}
		})
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
