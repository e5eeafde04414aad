//go:build check || solution

// The controller works with these types: a TDSet gets its Deployment, and a status that reports it.
// The tests of chapter 05's exercise check everything else.

package main

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

func TestController(t *testing.T) {
	settings, err := managerOptions(options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := &TDSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tdset(nil), stored); err != nil {
		t.Fatal(err)
	}
	stored.UID, stored.Generation = "the TDSet's", 1
	api := fake.NewClientBuilder().WithScheme(settings.Scheme).WithObjects(stored).WithStatusSubresource(stored).Build()
	ten := time.Date(2026, time.January, 1, 10, 0, 0, 0, time.UTC)
	r := &controller{Client: api, APIReader: api, Recorder: &events.FakeRecorder{}, clock: clocktesting.NewFakePassiveClock(ten)}

	for range 2 { // the first call writes the Deployment, the second one the status
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(stored)})
		if err != nil {
			t.Fatal(err)
		}
		if want := 7 * time.Hour; result.RequeueAfter != want {
			t.Errorf("RequeueAfter is %v, want %v", result.RequeueAfter, want)
		}
	}
	deployment := &appsv1.Deployment{}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(stored), deployment); err != nil {
		t.Fatal(err)
	}
	if got := replicasOf(deployment); got != 5 {
		t.Errorf("the Deployment has %d replicas, want 5", got)
	}
	if err := api.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	ready := meta.FindStatusCondition(stored.Status.Conditions, conditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != reasonProgressing {
		t.Errorf("the conditions are %+v, want Ready=False, %s", stored.Status.Conditions, reasonProgressing)
	}
	if got := stored.Status.ObservedGeneration; got != 1 {
		t.Errorf("observedGeneration is %d, want 1", got)
	}
}
