//go:build check || solution

// These tests call Reconcile for a TDSet that was deleted an hour ago. Its Deployment has been
// scaled to zero. The API server is controller-runtime's fake client, and each test says which Pods
// are left.
//
// As given, some TDSets never go away. `workshop test` checks these failures:
//
// fails: TestOtherPods/a debugging Pod with the label app
// says: the TDSet stays, want it gone: what is it waiting for?
//
// fails: TestOtherPods/a Pod of another Deployment with the label app
// says: the TDSet stays, want it gone: what is it waiting for?

package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	m.Run()
}

// checkout is the name of the TDSet that the tests are about, and of its Deployment.
var checkout = client.ObjectKey{Namespace: "shop", Name: "checkout"}

// The labels of the TDSet's own Pods, and the one that others may have, too.
var (
	own     = map[string]string{"app": "checkout", "schedule.rs/tdset": "checkout"}
	justApp = map[string]string{"app": "checkout"}
)

func TestOwnPods(t *testing.T) {
	for sentence, test := range map[string]struct {
		pod  *corev1.Pod
		want bool // whether the TDSet stays
	}{
		"its Pods have ended":                        {aPod("shop", nil), false},
		"one of its Pods was evicted":                {aPod("shop", own, evicted), false},
		"a Pod needs an hour to finish its orders":   {aPod("shop", own, terminating), true},
		"nobody has told one of its Pods to end yet": {aPod("shop", own), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, withDeployment := range []bool{true, false} { // somebody may have deleted it by hand
				api := newAPI(withDeployment, test.pod).Build()
				if stays := reconcileIn(t, api, nil); stays != test.want {
					t.Errorf("with a Deployment: %v, the TDSet stays: %v, want %v", withDeployment, stays, test.want)
				}
			}
		})
	}
}

// Other Pods are running when a TDSet is deleted. They stay.
func TestOtherPods(t *testing.T) {
	for sentence, pod := range map[string]*corev1.Pod{
		"a debugging Pod with the label app":             aPod("shop", justApp),
		"a Pod of another Deployment with the label app": aPod("shop", justApp, controlled),
		"a Pod of another TDSet":                         aPod("shop", map[string]string{"app": "checkout-eu", "schedule.rs/tdset": "checkout-eu"}, controlled),
		"a Pod of a TDSet of the same name, elsewhere":   aPod("test", own, controlled),
	} {
		t.Run(sentence, func(t *testing.T) {
			api := newAPI(true, pod).Build()
			if reconcileIn(t, api, nil) {
				t.Error("the TDSet stays, want it gone: what is it waiting for?")
			}
			if err := api.Get(t.Context(), client.ObjectKeyFromObject(pod), pod); err != nil {
				t.Errorf("the other Pod is gone, too: whose is it? %v", err)
			}
		})
	}
}

func TestPodsThatCannotBeListed(t *testing.T) {
	errList := errors.New("the API server is down")
	api := newAPI(true, aPod("shop", own)).WithInterceptorFuncs(interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return errList },
	}).Build()
	if !reconcileIn(t, api, errList) {
		t.Error("the TDSet is gone, although its Pods may still have orders to finish")
	}
}

// reconcileIn calls Reconcile, checks the error, and reports whether the TDSet stays.
func reconcileIn(t *testing.T, api client.Client, want error) bool {
	t.Helper()
	result, err := (&reconciler{Client: api, APIReader: api}).Reconcile(t.Context(), ctrl.Request{NamespacedName: checkout})
	if !errors.Is(err, want) {
		t.Errorf("Reconcile returned the error %v, want %v", err, want)
	}
	err = api.Get(t.Context(), checkout, &schedulev2.TDSet{})
	if err == nil && want == nil && result.RequeueAfter == 0 {
		t.Error("Reconcile returned neither a RequeueAfter nor an error, so nobody looks at the Pods again")
	}
	return !apierrors.IsNotFound(err)
}

// newAPI returns an API server with the TDSet, its Deployment and a Pod.
func newAPI(withDeployment bool, pod *corev1.Pod) *fake.ClientBuilder {
	tdset := &schedulev2.TDSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: checkout.Namespace, Name: checkout.Name, UID: "uid of checkout", Finalizers: []string{finalizer},
		DeletionTimestamp: new(metav1.NewTime(time.Now().Add(-time.Hour))),
	}}
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: checkout.Namespace, Name: checkout.Name,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(tdset, schedulev2.GroupVersion.WithKind("TDSet"))},
		},
		Spec: appsv1.DeploymentSpec{Replicas: new(int32(0))},
	}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tdset, pod.DeepCopy())
	if withDeployment {
		api.WithObjects(deployment)
	}
	return api
}

func aPod(namespace string, labels map[string]string, changes ...func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "checkout-7d4b9c6f5-x7k2p", Labels: labels},
		Status:     corev1.PodStatus{Phase: corev1.PodRunning},
	}
	for _, change := range changes {
		change(pod)
	}
	return pod
}

// evicted is a Pod that the kubelet has ended, but nobody deletes it.
func evicted(pod *corev1.Pod) { pod.Status.Phase = corev1.PodFailed }

// terminating is a Pod that is being deleted and still runs.
func terminating(pod *corev1.Pod) {
	pod.DeletionTimestamp, pod.Finalizers = new(metav1.Now()), []string{"example.com/still-running"}
}

func controlled(pod *corev1.Pod) {
	pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "other", UID: "uid of other", Controller: new(true)}}
}
