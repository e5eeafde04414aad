//go:build check || solution

// The controller works with these types: a TDSet gets its Deployment, and a status that reports it,
// or why there is none. The tests of chapter 05's exercise check everything else.

package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func TestController(t *testing.T) {
	r, stored := atTen(t, interceptor.Funcs{})
	for range 2 { // the second call has nothing to write
		result, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(stored)})
		if err != nil {
			t.Fatal(err)
		}
		if want := 7 * time.Hour; result.RequeueAfter != want {
			t.Errorf("RequeueAfter is %v, want %v", result.RequeueAfter, want)
		}
	}
	deployment := &appsv1.Deployment{}
	if err := r.Get(t.Context(), client.ObjectKeyFromObject(stored), deployment); err != nil {
		t.Fatal(err)
	}
	if got := replicasOf(deployment); got != 5 {
		t.Errorf("the Deployment has %d replicas, want 5", got)
	}
	if err := r.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
		t.Fatal(err)
	}
	wantReason(t, stored, reasonProgressing)
	if got := stored.Status.ObservedGeneration; got != 1 {
		t.Errorf("observedGeneration is %d, want 1", got)
	}
}

// A refused create is visible in the status, and the next attempt doesn't write the status again.
func TestRefusedCreate(t *testing.T) {
	attempts := 0
	r, stored := atTen(t, interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			attempts++ // the text of a real refusal may differ each time, too
			return apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "", fmt.Errorf("exceeded quota in attempt %d", attempts))
		},
	})
	var versions []string
	for range 2 {
		if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(stored)}); !apierrors.IsForbidden(err) {
			t.Fatalf("Reconcile returned the error %v, want the refusal", err)
		}
		if err := r.Get(t.Context(), client.ObjectKeyFromObject(stored), stored); err != nil {
			t.Fatal(err)
		}
		wantReason(t, stored, reasonRefused)
		versions = append(versions, stored.ResourceVersion)
	}
	if attempts != 2 || versions[0] != versions[1] {
		t.Errorf("after %d attempts, the TDSet's resourceVersions are %q, want 2 attempts and no second write", attempts, versions)
	}
}

// atTen returns a controller whose clock says 10:00, and the TDSet in its cluster, whose requests
// funcs can change.
func atTen(t *testing.T, funcs interceptor.Funcs) (*controller, *TDSet) {
	t.Helper()
	settings, err := managerOptions(options{})
	if err != nil {
		t.Fatal(err)
	}
	stored := &TDSet{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(tdset(nil), stored); err != nil {
		t.Fatal(err)
	}
	stored.UID, stored.Generation = "the TDSet's", 1
	api := fake.NewClientBuilder().WithScheme(settings.Scheme).WithObjects(stored).WithStatusSubresource(stored).WithInterceptorFuncs(funcs).Build()
	ten := time.Date(2026, time.January, 1, 10, 0, 0, 0, time.UTC)
	return &controller{Client: api, APIReader: api, Recorder: &events.FakeRecorder{}, clock: clocktesting.NewFakePassiveClock(ten)}, stored
}

// wantReason checks that tdset isn't ready, and why.
func wantReason(t *testing.T, tdset *TDSet, want string) {
	t.Helper()
	ready := meta.FindStatusCondition(tdset.Status.Conditions, conditionReady)
	if ready == nil || ready.Status != metav1.ConditionFalse || ready.Reason != want {
		t.Errorf("the conditions are %+v, want Ready=False, %s", tdset.Status.Conditions, want)
	}
}
