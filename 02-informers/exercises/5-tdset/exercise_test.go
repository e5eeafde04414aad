//go:build check || solution

// TestOneDay runs the program on a real API server, in stages. Each stage needs the ones before
// it. TestTimers checks what happens minutes later, with testing/synctest, where waiting takes no
// time.
//
// As given, the program handles each TDSet only once, when it is added:
//
// fails: TestTimers/after a failure, there is another attempt within a minute, but not at once
// says: no request in the minute after the failure, want another attempt
//
// fails: TestTimers/a TDSet whose deletion the watch has missed isn't due any more
// says: handleObject panics: interface conversion: cache.DeletedFinalStateUnknown
//
// fails: TestOneDay/the status says when all replicas are available
// says: tdsets "day" has the condition Ready: True AsScheduled from hour 7 to 9

package main

import (
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/operators/02-informers/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

// A TDSet is in the informer's cache, and every request fails.
func TestTimers(t *testing.T) {
	klog.SetLogger(klog.Logger{}) // the program's log would only hide what the test reports
	key := types.NamespacedName{Namespace: "temp", Name: "a"}
	tdset := &TDSet{ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name}}
	for sentence, test := range map[string]func(t *testing.T, c *controller, sent *int){
		"after a failure, there is another attempt within a minute, but not at once": func(t *testing.T, c *controller, sent *int) {
			c.handle(t.Context(), key)
			attempt := *sent
			sleep(time.Second)
			if *sent > attempt {
				t.Errorf("%d requests in the second after the failure, want none", *sent-attempt)
			}
			sleep(time.Minute)
			if *sent == attempt {
				t.Error("no request in the minute after the failure, want another attempt")
			}
		},
		"a call of handle replaces the timer of the one before": func(t *testing.T, c *controller, sent *int) {
			c.handle(t.Context(), key)
			attempt := *sent
			c.handle(t.Context(), key)
			sleep(61 * time.Second)
			if *sent > 3*attempt {
				t.Errorf("after two calls of handle, %d attempts follow, want one: stop the timer that you replace", *sent/attempt-2)
			}
		},
		"a TDSet whose deletion the watch has missed isn't due any more": func(t *testing.T, c *controller, sent *int) {
			c.handle(t.Context(), key)
			c.tdsetInformer.GetStore().Delete(tdset)
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("handleObject panics: %v", p)
				}
			}()
			c.handleObject(t.Context(), cache.DeletedFinalStateUnknown{Key: key.String(), Obj: tdset})
			if len(c.timers) > 0 {
				t.Error("the TDSet is gone, but it still has a timer: does handleObject get the name from a cache.DeletedFinalStateUnknown?")
			}
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				sent := 0
				c, err := newController(&rest.Config{Transport: transport(func(*http.Request) (*http.Response, error) {
					sent++
					return nil, errors.New("the server is down")
				})}, "", shiftedClock{})
				if err != nil {
					t.Fatal(err)
				}
				c.tdsetInformer.GetStore().Add(tdset)
				test(t, c, &sent)
			})
		})
	}
}

// sleep lets time pass, and then waits until the program has nothing left to do.
func sleep(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

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
	stage("the status says why a write is refused", func(t *operatortest.T) {
		t.Create("resourcequotas", `{apiVersion: v1, kind: ResourceQuota, metadata: {name: none}, spec: {hard: {count/deployments.apps: "0"}}}`)
		t.Has("resourcequotas", "none", `.status.hard.count/deployments\.apps`, "0") // it is in force
		t.Create("tdsets", example, "metadata.name=unlucky")
		t.HasCondition("tdsets", "unlucky", "Ready", "False Refused")
		t.Delete("resourcequotas", "none")
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
