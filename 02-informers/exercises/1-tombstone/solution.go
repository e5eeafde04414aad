//go:build solution

// Package tombstone is about the argument of a delete handler. Usually that is the deleted object,
// but not always.
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

// OnDelete is the DeleteFunc of an informer of Deployments. If the deleted Deployment was
// controlled by one of our Foos, as far as the cache knew, OnDelete calls handle with that Foo's
// key, so that the Deployment is created again. Otherwise it does nothing.
//
// It never panics, because a panic would end the program, for all Foos. If obj isn't a Deployment
// or a tombstone of one, it returns an error that contains obj's type. If a tombstone has no
// object, it returns an error that contains the tombstone's key.
func OnDelete(obj any, handle func(foo types.NamespacedName)) error {
	// 1. If the watch missed the deletion, obj is a tombstone (a value, not a pointer) with the
	// last state that the cache had.
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if tombstone.Obj == nil {
			return fmt.Errorf("%s was deleted, but its last state is unknown", tombstone.Key)
		}
		obj = tombstone.Obj
	}

	// 2. Assert that it is a Deployment.
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return fmt.Errorf("the deleted object is a %T, not a Deployment", obj)
	}

	// 3. Find its Foo.
	if owner := metav1.GetControllerOf(deployment); owner != nil && isFoo(owner) {
		handle(types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
	return nil
}

// isFoo reports whether owner is a Foo of our API group. The version in the owner reference doesn't
// matter, because all versions serve the same Foo.
func isFoo(owner *metav1.OwnerReference) bool {
	version, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && version.Group == samplecontrollerv1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}
