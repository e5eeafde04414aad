//go:build check || solution

// One TDSet's day on a real API server, in stages. Each stage needs the ones before it.
//
// fails: TestOneDay/a TDSet gets its Deployment, with the replicas of the hour
// says: the operator has exited: 5-tdset: the controller has no clients, informers and listers yet

package main

import (
	"os"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/04-codegen/test/operatortest"
)

func TestMain(m *testing.M) { operatortest.Main(m, main) }

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
	stage("a status that somebody else has written is overwritten", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"status": {"observedGeneration": 99}}`, "status")
		t.Has("tdsets", "day", ".status.observedGeneration", t.Get("tdsets", "day", ".metadata.generation"))
	})
	stage("other people's conditions stay, and stay theirs", func(t *operatortest.T) {
		t.Patch("tdsets", "day", `{"status": {"conditions": [{"type": "Blessed", "status": "True", "reason": "ByHand", "message": "",
			"lastTransitionTime": "2026-03-02T00:00:00Z"}]}}`, "status")
		t.HasCondition("tdsets", "day", "Ready", "True")
		t.HasCondition("tdsets", "day", "Blessed", "True")
		owned := t.Get("tdsets", "day", ".metadata.managedFields[?(@.manager=='tdset-controller')].fieldsV1")
		if strings.Contains(owned, "Blessed") {
			t.Errorf("the program has written somebody else's condition Blessed, too, so it owns these fields:\n%s", owned)
		}
	})
	stage("a status that was computed from an old spec isn't written", func(t *operatortest.T) {
		c, key := newInProcess(t, ""), types.NamespacedName{Namespace: t.Namespace, Name: "day"}
		old, err := c.tdsets.ScheduleV1().TDSets(key.Namespace).Get(t.Context(), key.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		t.Patch("tdsets", "day", `{"spec": {"defaultReplica": 1}}`)
		if err := c.updateTDSetStatus(t.Context(), old, old.Status); !apierrors.IsConflict(err) {
			t.Errorf("the spec has changed since the program read it, but updateTDSetStatus returns %v, want a conflict", err)
		}
	})
	stage("without a namespace, the informers watch all namespaces, and with one no other", func(t *operatortest.T) {
		key := types.NamespacedName{Namespace: t.Namespace, Name: "day"}
		for namespace, want := range map[string]bool{"": true, "default": false} {
			c := newInProcess(t, namespace)
			go c.tdsetInformer.RunWithContext(t.Context())
			go c.deploymentInformer.RunWithContext(t.Context())
			if !cache.WaitForCacheSync(t.Context().Done(), c.tdsetInformer.HasSynced, c.deploymentInformer.HasSynced) {
				t.Fatal("the informers don't sync")
			}
			_, noTDSet := c.getTDSet(t.Context(), key)
			_, noDeployment := c.getDeployment(t.Context(), key.Namespace, key.Name)
			if (noTDSet == nil) != want || (noDeployment == nil) != want {
				t.Errorf("newController for the namespace %q: the listers find the TDSet in %s: %v, and its Deployment: %v; want %v",
					namespace, key.Namespace, noTDSet == nil, noDeployment == nil, want)
			}
		}
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

// newInProcess returns a controller that doesn't run, for tests that call its functions.
func newInProcess(t *operatortest.T, namespace string) *controller {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	c, err := newController(t.Context(), config, namespace, shiftedClock{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
