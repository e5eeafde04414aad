//go:build solution

// Package watches is about which events bring which Foos.
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

// settingsAnnotation names the ConfigMap that a Foo gets its settings from. It is in the Foo's namespace, isn't the Foo's, and may
// be there for many Foos, or not yet.
const settingsAnnotation = "example.com/settings"

// bySettings is the name of the index of Foos by their ConfigMap's name.
const bySettings = "settings"

// setUp adds a controller to mgr, which calls reconciler for a Foo
//   - when the Foo is made, when its spec changes or that annotation, when it is being deleted, and when it is gone;
//   - when its ConfigMap is made or deleted, and when that ConfigMap's data change, be they text or binary.
//
// Nothing else does: not the Foo's status, which reconciler itself writes; not a ConfigMap's labels, annotations or managedFields, nor
// its resync. (Whether a Foo is to come with its own resync, and for other annotations, is up to you.)
func setUp(ctx context.Context, mgr ctrl.Manager, reconciler reconcile.Reconciler) error {
	if err := mgr.GetFieldIndexer().IndexField(ctx, &samplecontrollerv1alpha1.Foo{}, bySettings, indexBySettings); err != nil {
		return fmt.Errorf("index Foos: %w", err)
	}
	// Neither is enough alone: annotations don't raise the generation. A deletion that something holds up does. In WithPredicates
	// both would have to say yes: that is And.
	asked := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.AnnotationChangedPredicate{})
	return ctrl.NewControllerManagedBy(mgr).
		For(&samplecontrollerv1alpha1.Foo{}, builder.WithPredicates(asked)).
		Watches(&corev1.ConfigMap{}, handler.EnqueueRequestsFromMapFunc(foosWith(mgr.GetClient())),
			builder.WithPredicates(predicate.Funcs{UpdateFunc: dataChanged})). // what Funcs has no function for, passes
		Complete(reconciler)
}

// dataChanged reports whether a ConfigMap's data have changed. It has no generation that would tell.
func dataChanged(update event.UpdateEvent) bool {
	before, okBefore := update.ObjectOld.(*corev1.ConfigMap)
	now, okNow := update.ObjectNew.(*corev1.ConfigMap)
	return !okBefore || !okNow ||
		!maps.Equal(before.Data, now.Data) ||
		!maps.EqualFunc(before.BinaryData, now.BinaryData, bytes.Equal)
}

// indexBySettings puts a Foo under the name of its ConfigMap, and one that has none under nothing. (The cache adds the namespace.)
func indexBySettings(object client.Object) []string {
	if name := object.GetAnnotations()[settingsAnnotation]; name != "" {
		return []string{name}
	}
	return nil
}

// foosWith returns a function that returns the keys of the Foos that get their settings from a ConfigMap, each once. It asks foos by
// the index, and for one namespace.
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
