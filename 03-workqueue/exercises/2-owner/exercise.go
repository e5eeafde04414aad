//go:build !solution

// Package owner is about whose a Deployment is.
package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/listers"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// OwnerOf returns the Foo that controls the Deployment with which a handler was called, if the cache has it.
//
// Of all owners that a Deployment has, at most one controls it. It is this very object, and not another one that has its name,
// now or at another time. A Deployment whose deletion the watch missed comes in a tombstone, and counts like any other.
// What is returned is the cache's own: look, don't touch.
func OwnerOf(obj any, foos listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo]) (foo *samplecontrollerv1alpha1.Foo, found bool) {
	// YOUR WORK: this finds wrong owners, and misses right ones.
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return nil, false
	}
	for _, owner := range deployment.OwnerReferences {
		if owner.Kind == "Foo" {
			foo, err := listers.NewNamespaced(foos, deployment.Namespace).Get(owner.Name)
			return foo, err == nil
		}
	}
	return nil, false
}
