//go:build !solution

// Package twice is about a cache that doesn't have your last write yet, and about objects that
// aren't yours.
package twice

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
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
	// YOUR WORK: this believes the cache if the cache has none.
	var found corev1.ConfigMapList
	if err := r.List(ctx, &found, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)}); err != nil {
		return nil, fmt.Errorf("list the Foo's ConfigMaps: %w", err)
	}
	if len(found.Items) > 0 {
		return &found.Items[0], nil
	}
	desired := desiredConfigMap(foo)
	if err := r.Create(ctx, desired); err != nil {
		return nil, fmt.Errorf("create a ConfigMap: %w", err)
	}
	return desired, nil
}

// desiredConfigMap returns the ConfigMap that foo should have, with a new ID.
func desiredConfigMap(foo *samplecontrollerv1alpha1.Foo) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName:    foo.Name + "-", // YOUR WORK: the server chooses the name, such as example-7xk2p
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithKind("Foo"))},
		},
		Data: map[string]string{"id": string(uuid.NewUUID())},
	}
}
