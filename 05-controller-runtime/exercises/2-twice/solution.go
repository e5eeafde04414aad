//go:build solution

// Package twice is about a cache that doesn't have your last write yet, and about objects that
// aren't yours.
package twice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Reconciler gives each Foo an ID.
type Reconciler struct {
	client.Client               // reads from the cache, writes to the server
	APIReader     client.Reader // reads from the server
}

// Reconcile gives each Foo a ConfigMap with an ID, which is generated once and never changes. The
// Foo's condition Ready reports the state of that ConfigMap.
//
// The ConfigMap has the Foo's name. A Foo never has two, no matter how far behind the cache of
// ConfigMaps is, even if the program restarts, and even if another replica reconciles the same Foo
// at that moment.
//
// A ConfigMap with that name may be somebody else's. The UID of its controller decides whose it is.
// If the cache doesn't have the ConfigMap, only the server can tell. Somebody else's stays as it
// is, and Ready says so. That isn't an error, because once the ConfigMap is gone, its event
// enqueues the Foo. The same is true if the Foo's own ConfigMap is being deleted.
//
// If the server can't say whose it is, Reconcile returns an error, creates nothing, and leaves
// Ready as it is. If the cache has the Foo's ConfigMap, and Ready says so, Reconcile sends nothing.
// A Foo that is being deleted gets no ConfigMap.
func (r *Reconciler) Reconcile(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := r.Get(ctx, key.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	configMap, err := r.syncConfigMap(ctx, foo)
	if err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{}, r.setReady(ctx, foo, configMap)
}

// syncConfigMap returns the ConfigMap with the name of foo's ConfigMap, no matter whose it is. If
// there is none, it creates one.
func (r *Reconciler) syncConfigMap(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*corev1.ConfigMap, error) {
	desired, observed := desiredConfigMap(foo), &corev1.ConfigMap{}
	key := client.ObjectKeyFromObject(desired)

	// 1. Ask the cache. If its ConfigMap is out of date, an event is on its way, and Reconcile is
	// called again.
	err := r.Get(ctx, key, observed)
	if err == nil {
		return observed, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get ConfigMap %s: %w", key.Name, err)
	}

	// 2. Let the server decide. It refuses a create if the ConfigMap exists, no matter who was
	// first. Unlike an apply, a create needs no read before it.
	err = r.Create(ctx, desired)
	if err == nil {
		return desired, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create ConfigMap %s: %w", key.Name, err)
	}

	// 3. Find out whose it is. The cache doesn't have it, so ask the server. If it is gone by now,
	// return that error too: the next call creates a new one.
	if err := r.APIReader.Get(ctx, key, observed); err != nil {
		return nil, fmt.Errorf("get ConfigMap %s from the server: %w", key.Name, err)
	}
	return observed, nil
}

// desiredConfigMap returns the ConfigMap that foo should have, with a new ID.
func desiredConfigMap(foo *samplecontrollerv1alpha1.Foo) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Name, // so the server refuses a second one
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"))},
		},
		Data: map[string]string{"id": string(uuid.NewUUID())},
	}
}
