//go:build solution

// Package watches is about which events enqueue which Foos.
package watches

import (
	"bytes"
	"context"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// settingsAnnotation names the ConfigMap that a Foo gets its settings from. The ConfigMap is in the
// Foo's namespace, but it isn't the Foo's. Many Foos may share it, and it may not exist yet.
const settingsAnnotation = "example.com/settings"

// bySettings is the name of the index of Foos by their ConfigMap's name.
const bySettings = "settings"

// setUp adds a controller to mgr. It calls reconciler for a Foo
//   - when the Foo is created, when its spec or that annotation changes, when it is being deleted,
//     and when it is gone;
//   - when its ConfigMap is created or deleted, and when the ConfigMap's data changes, be it text or
//     binary.
//
// Nothing else leads to a call: neither a change of the Foo's status, which reconciler itself
// writes, nor a change of the ConfigMap's labels, annotations or managedFields, nor the ConfigMap's
// resync. (The Foo's own resync and its other annotations may lead to calls, if you like.)
func setUp(ctx context.Context, mgr ctrl.Manager, reconciler reconcile.Reconciler) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &samplecontrollerv1alpha1.Foo{}, bySettings, indexBySettings); err != nil {
		return fmt.Errorf("index Foos: %w", err)
	}
	// Neither predicate is enough alone, because a change of an annotation doesn't raise the
	// generation. (A deletion that a finalizer delays does.) WithPredicates(a, b) would only let an
	// event through if both did.
	asked := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}, builder.WithPredicates(asked)).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(foosWith(mgr.GetClient())),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: dataChanged})). // creations and deletions pass
		Complete(reconciler)
}

// dataChanged reports whether a ConfigMap's data has changed. A ConfigMap has no generation that
// would show it.
func dataChanged(update event.UpdateEvent) bool {
	before, okBefore := update.ObjectOld.(*corev1.ConfigMap)
	now, okNow := update.ObjectNew.(*corev1.ConfigMap)
	return !okBefore || !okNow ||
		!maps.Equal(before.Data, now.Data) ||
		!maps.EqualFunc(before.BinaryData, now.BinaryData, bytes.Equal)
}

// indexBySettings indexes a Foo by the name of its ConfigMap. A Foo without one isn't in the index.
// (The cache adds the namespace.)
func indexBySettings(object client.Object) []string {
	if name := object.GetAnnotations()[settingsAnnotation]; name != "" {
		return []string{name}
	}
	return nil
}

// foosWith returns a map function, which returns the keys of the Foos that get their settings from
// a ConfigMap, each key once. It uses the index of foos, for one namespace.
func foosWith(foos client.Reader) handler.MapFunc {
	return func(ctx context.Context, configMap client.Object) []reconcile.Request {
		var list samplecontrollerv1alpha1.FooList
		err := foos.List(ctx, &list, client.InNamespace(configMap.GetNamespace()), client.MatchingFields{bySettings: configMap.GetName()})
		if err != nil {
			klog.ErrorS(err, "Lost an event: nothing will try again", "configMap", klog.KObj(configMap))
			return nil
		}
		var keys []reconcile.Request
		for i := range list.Items {
			keys = append(keys, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&list.Items[i])})
		}
		return keys
	}
}
