//go:build !solution

// Package tombstone is about the argument of a delete handler. Usually that is the deleted object,
// but not always.
package tombstone

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OnDelete is the DeleteFunc of an informer of Deployments. If the deleted Deployment was
// controlled by one of our Foos, as far as the cache knew, OnDelete calls handle with that Foo's
// key, so that the Deployment is created again. Otherwise it does nothing.
//
// It never panics, because a panic would end the program, for all Foos. If obj isn't a Deployment
// or a tombstone of one, it returns an error that contains obj's type. If a tombstone has no
// object, it returns an error that contains the tombstone's key.
func OnDelete(obj any, handle func(foo types.NamespacedName)) error {
	// YOUR WORK: this handles only one of the types that obj can have, and accepts the kind Foo of
	// any API group.
	deployment := obj.(*appsv1.Deployment)
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		handle(types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
	return nil
}
