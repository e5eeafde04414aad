//go:build check || solution

// These tests call Reconcile for a Foo that has a Deployment, in a bubble of testing/synctest, where
// minutes pass at once. The API server is the fake client, and plays the cache, too.
//
// As given, Reconcile keeps its worker busy. `workshop test` checks these failures:
//
// fails: TestReconcile/its Deployment isn't available
// says: Reconcile took 2m0s: what did its worker do in that time?
//
// fails: TestReconcile/its Pods are lost
// says: Reconcile took 2m0s: what did its worker do in that time?
//
// fails: TestReconcile/the cache doesn't have its Deployment yet
// says: Reconcile took 2m0s: what did its worker do in that time?

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	m.Run()
}

// cart is the key of the Foo, and of its Deployment.
var cart = client.ObjectKey{Namespace: "default", Name: "cart"}

var errWrite = errors.New("the disk is full")

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		was, available int32 // replicas: in the Foo's status, and of the Deployment
		behind         bool  // whether the cache has no Deployment yet
		refused        bool  // whether the status can't be written
		wantReason     string
		wantErr        error
	}{
		"its Deployment is available":               {was: 0, available: 1, wantReason: reasonAvailable},
		"its Deployment isn't available":            {was: 0, available: 0, wantReason: reasonProgressing},
		"its Pods are lost":                         {was: 1, available: 0, wantReason: reasonProgressing},
		"the cache doesn't have its Deployment yet": {behind: true},
		"its status can't be written":               {available: 1, refused: true, wantErr: errWrite},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				foo := &samplecontrollerv1alpha1.Foo{
					ObjectMeta: metav1.ObjectMeta{Namespace: cart.Namespace, Name: cart.Name, UID: "uid of cart"},
					Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: cart.Name, Replicas: new(int32(1))},
				}
				if test.was > 0 {
					foo.Status = desiredStatus(foo, aDeployment(foo, test.was))
				}
				requests := 0
				api := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(foo).WithObjects(foo, aDeployment(foo, test.available)).
					WithInterceptorFuncs(interceptor.Funcs{
						Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
							requests++
							if _, ok := into.(*appsv1.Deployment); ok && test.behind {
								return apierrors.NewNotFound(appsv1.Resource("deployments"), key.Name)
							}
							return api.Get(ctx, key, into, opts...)
						},
						SubResourcePatch: func(ctx context.Context, api client.Client, subresource string, object client.Object, patch client.Patch, opts ...client.SubResourcePatchOption) error {
							if test.refused {
								return errWrite
							}
							return api.SubResource(subresource).Patch(ctx, object, patch, opts...)
						},
					}).Build()

				start := time.Now()
				result, err := (&controller{Client: api}).Reconcile(t.Context(), ctrl.Request{NamespacedName: cart})
				if took := time.Since(start); took > 0 {
					t.Errorf("Reconcile took %v: what did its worker do in that time?", took)
				}
				if !errors.Is(err, test.wantErr) {
					t.Errorf("Reconcile returned the error %v, want %v: has anything failed?", err, test.wantErr)
				}
				if !result.IsZero() {
					t.Errorf("Reconcile is called again after %v: which event tells the controller when the Deployment has changed?", result.RequeueAfter)
				}
				before := requests
				time.Sleep(time.Hour)
				if requests > before {
					t.Errorf("%d requests were sent after Reconcile had returned: who would stop them if the Foo is deleted, or when the program stops?",
						requests-before)
				}
				if err := api.Get(t.Context(), cart, foo); err != nil {
					t.Fatal(err)
				}
				if got := reasonOf(foo); got != test.wantReason {
					t.Errorf("the Foo's condition has the reason %q, want %q", got, test.wantReason)
				}
			})
		})
	}
}

// aDeployment returns foo's Deployment for one replica.
func aDeployment(foo *samplecontrollerv1alpha1.Foo, available int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: cart.Namespace,
			Name:      cart.Name,
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo", Name: foo.Name, UID: foo.UID,
				Controller: new(true), BlockOwnerDeletion: new(true),
			}},
		},
		Spec:   appsv1.DeploymentSpec{Replicas: new(int32(1))},
		Status: appsv1.DeploymentStatus{Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: available},
	}
}

// reasonOf returns the reason of the Foo's condition, or "" if it has none.
func reasonOf(foo *samplecontrollerv1alpha1.Foo) string {
	if len(foo.Status.Conditions) == 0 {
		return ""
	}
	return foo.Status.Conditions[0].Reason
}
