//go:build solution

// Package twice is about a cache that doesn't know yet what we have just made, and about whose it is.
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

// Reconciler gives Foos an ID each.
type Reconciler struct {
	client.Client               // reads from the cache, writes to the server
	Live          client.Reader // reads from the server
}

// Reconcile gives each Foo a ConfigMap with an ID, which is made up once and never changes. The Foo's condition Ready says what
// there is under the ConfigMap's name.
//
// The ConfigMap has the Foo's name. Each Foo has one and never two: however far behind the cache of ConfigMaps is, even if
// the program restarts, and even if another replica of it does the same at that moment.
//
// A ConfigMap of that name may be somebody else's. Whose it is goes by the UID of its controller; what the cache doesn't know, the
// server does. It is left as it is, and Ready says so. That is no error: an event brings the Foo here again once it is gone. One
// that is being deleted is waited for in the same way.
//
// If the server can't say whose it is, that is an error: nothing is made, and Ready stays as it is. If the cache has the Foo's
// ConfigMap, and Ready says so, nothing is sent. A Foo that is being deleted gets none.
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

// syncConfigMap returns what there is under the name of foo's ConfigMap, which it makes if there is nothing.
func (r *Reconciler) syncConfigMap(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*corev1.ConfigMap, error) {
	desired, observed := desiredConfigMap(foo), &corev1.ConfigMap{}
	key := client.ObjectKeyFromObject(desired)

	// 1. The cache. What it has may be out of date: then an event is on its way that brings us here again.
	err := r.Get(ctx, key, observed)
	if err == nil {
		return observed, nil
	}
	if !apierrors.IsNotFound(err) {
		return nil, fmt.Errorf("get ConfigMap %s: %w", key.Name, err)
	}

	// 2. The server decides. A create is refused if there is one, no matter who was first. Unlike an apply, it needs no read
	//    before.
	err = r.Create(ctx, desired)
	if err == nil {
		return desired, nil
	}
	if !apierrors.IsAlreadyExists(err) {
		return nil, fmt.Errorf("create ConfigMap %s: %w", key.Name, err)
	}

	// 3. Whose is it? The cache doesn't know it. If it is gone again, that is an error too, and the next try makes it.
	if err := r.Live.Get(ctx, key, observed); err != nil {
		return nil, fmt.Errorf("get ConfigMap %s from the server: %w", key.Name, err)
	}
	return observed, nil
}

// desiredConfigMap returns what foo wants, with a new ID.
func desiredConfigMap(foo *samplecontrollerv1alpha1.Foo) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Name, // so a second one is refused
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"))},
		},
		Data: map[string]string{"id": string(uuid.NewUUID())},
	}
}
