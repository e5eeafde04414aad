//go:build !solution

// Package tombstone is about what a delete handler is given. Most of the time it is the object that was deleted.
package tombstone

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// OnDelete is called with what an informer of Deployments hands to its DeleteFunc. It calls handle with the key of the Foo
// that controlled the deleted Deployment, as far as the cache knew, so that it can be made again. If no Foo of ours did, there
// is nothing to do.
//
// It never panics: that would end the program, for all Foos. What it can't make sense of is an error, which names the type of
// what came or, if a tombstone holds nothing, its key.
func OnDelete(obj any, handle func(foo types.NamespacedName)) error {
	// YOUR WORK: this knows only one of the things that obj can be, and takes every kind called Foo for ours.
	deployment := obj.(*appsv1.Deployment)
	if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
		handle(types.NamespacedName{Namespace: deployment.Namespace, Name: owner.Name})
	}
	return nil
}
