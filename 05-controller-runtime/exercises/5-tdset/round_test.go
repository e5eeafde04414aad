//go:build check || solution

// Single calls of Reconcile, with controller-runtime's fake client. It makes it easy to have a
// write take ten seconds, or fail. Everything runs in a bubble of testing/synctest, where waiting
// takes no time.

package main

import (
	"context"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// round is one call of Reconcile: what it finds, and when.
type round struct {
	*testing.T
	at         time.Time
	tdset      *TDSet             // nil: there is none
	deployment *appsv1.Deployment // nil: there is none

	writeTakes time.Duration // how long each write takes, of a Deployment or a status
	writeFails error         // the error that it returns

	deploymentFails error // the error that a write of the Deployment returns, and no other

	writes []string // what Reconcile wrote: a Deployment, a status, or an Event
}

// settled returns a round at a time of day, such as "09:00" or "08:59:59.9", in which there is
// nothing to write. The TDSet is the manifest's, with these changes.
func settled(t *testing.T, clock string, changes ...func(*TDSetSpec)) *round {
	t.Helper()
	layout := "15:04:05"
	at, err := time.Parse(layout, (clock + ":00:00")[:max(len(layout), len(clock))])
	if err != nil {
		t.Fatal(err)
	}
	tdset := example(t)
	tdset.UID = "the TDSet's"
	for _, change := range changes {
		change(&tdset.Spec)
	}
	now := midnight.Add(at.Sub(at.Truncate(24 * time.Hour)))
	replicas, window, _ := scheduleAt(tdset.Spec, now)
	deployment := &appsv1.Deployment{}
	convert(t, desiredDeployment(tdset, replicas), deployment)
	available(deployment)
	tdset.Status = desiredStatus(tdset, deployment, window, nil, metav1.NewTime(now.Truncate(time.Second)))
	return &round{T: t, at: now, tdset: tdset, deployment: deployment}
}

// reconcile calls Reconcile.
func (r *round) reconcile() (ctrl.Result, error) {
	r.Helper()
	quiet()
	settings, err := managerOptions(options{})
	if err != nil {
		r.Fatal(err)
	}
	builder := fake.NewClientBuilder().WithScheme(settings.Scheme).WithStatusSubresource(&TDSet{})
	if r.tdset != nil {
		builder = builder.WithObjects(r.tdset)
	}
	if r.deployment != nil {
		builder = builder.WithObjects(r.deployment)
	}
	clock := clocktesting.NewFakePassiveClock(r.at)
	write := func(what string) error { // instead of the write
		r.writes = append(r.writes, what)
		clock.SetTime(clock.Now().Add(r.writeTakes))
		if what == "Deployment" && r.deploymentFails != nil {
			return r.deploymentFails
		}
		return r.writeFails
	}
	api := builder.WithInterceptorFuncs(interceptor.Funcs{
		Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
			return write("Deployment")
		},
		SubResourceApply: func(context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption) error {
			return write("status")
		},
	}).Build()
	program := &controller{Client: api, APIReader: api, Recorder: recorder{r}, clock: clock}
	return program.Reconcile(r.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: namespace, Name: name}})
}

// recorder counts an Event as a write.
type recorder struct{ r *round }

func (e recorder) Eventf(runtime.Object, runtime.Object, string, string, string, string, ...any) {
	e.r.writes = append(e.r.writes, "Event")
}

// wantWrites checks what Reconcile writes, in order.
func (r *round) wantWrites(want ...string) {
	r.Helper()
	if _, err := r.reconcile(); err != nil {
		r.Errorf("Reconcile returned the error: %v", err)
	}
	r.wrote(want...)
}

// wrote checks what Reconcile has written, in order.
func (r *round) wrote(want ...string) {
	r.Helper()
	if !slices.Equal(r.writes, want) {
		r.Errorf("Reconcile wrote %q, want %q", r.writes, want)
	}
}

// wantAfter checks RequeueAfter, exactly. 0 means never.
func (r *round) wantAfter(want time.Duration) {
	r.Helper()
	result, err := r.reconcile()
	switch got := result.RequeueAfter; {
	case err != nil:
		r.Errorf("Reconcile returned the error: %v", err)
	case got.Abs() > 24*time.Hour && want != 0: // no schedule asks for that
		r.Errorf("RequeueAfter is %v, want %v: does Reconcile get the time from r.clock?", got, want)
	case got != want && want == 0:
		r.Errorf("RequeueAfter is %v, want 0: never", got)
	case got != want && got <= 0:
		r.Errorf("RequeueAfter is %v, which is never, want %v", got, want)
	case got != want:
		r.Errorf("RequeueAfter is %v, want %v", got, want)
	}
}

// wantError checks that Reconcile returns an error, and an empty result.
func (r *round) wantError() {
	r.Helper()
	result, err := r.reconcile()
	if err == nil {
		r.Error("a write failed: Reconcile returned no error, want one")
	} else if result != (ctrl.Result{}) {
		r.Errorf("Reconcile returned an error and RequeueAfter %v, want an empty result: controller-runtime ignores it, and logs a warning", result.RequeueAfter)
	}
}

// beingDeleted makes it look as if someone had deleted the TDSet, and its Deployment has to go
// first.
func beingDeleted(tdset *TDSet) {
	tdset.DeletionTimestamp = &metav1.Time{Time: midnight}
	tdset.Finalizers = []string{metav1.FinalizerDeleteDependents}
}
