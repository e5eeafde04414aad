//go:build !solution

// Package twice is about a cache that doesn't know yet what we have just made, and about whose it is.
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
	// YOUR WORK: this believes the cache when it says that there is none.
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

// desiredConfigMap returns what foo wants, with a new ID.
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
