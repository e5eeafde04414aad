//go:build solution

// Package tombstone is about what a delete handler is given. Most of the time it is the object that was deleted.
package tombstone

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// OnDelete is called with what an informer of Deployments hands to its DeleteFunc. It calls handle with the key of the Foo
// that controlled the deleted Deployment, as far as the cache knew, so that it can be made again. If no Foo of ours did, there
// is nothing to do.
//
// It never panics: that would end the program, for all Foos. What it can't make sense of is an error, which names the type of
// what came or, if a tombstone holds nothing, its key.
func OnDelete(obj any, handle func(foo types.NamespacedName)) error {
	// 1. The watch missed the deletion: what comes is a tombstone, by value, with the last state that the cache had.
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if tombstone.Obj == nil {
			return fmt.Errorf("%s was deleted, and the cache had no state of it", tombstone.Key)
		}
		obj = tombstone.Obj
	}

	// 2. The Deployment.
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return fmt.Errorf("what was deleted is a %T, not a Deployment", obj)
	}

	// 3. Its Foo.
	if owner := metav1.GetControllerOf(deployment); owner != nil && isFoo(owner) {
		handle(types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
	return nil
}

// isFoo reports whether an owner is a Foo of our group. The version doesn't matter: it is the one that the author of the
// reference happened to use, and all versions show the same Foo.
func isFoo(owner *metav1.OwnerReference) bool {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == samplecontrollerv1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}
