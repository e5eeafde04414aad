//go:build !solution

// Package owner finds out which Foo a Deployment belongs to.
package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/client-go/listers"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// OwnerOf gets what a handler was called with. If that is a Deployment, and the cache has the Foo
// that controls it, OwnerOf returns this Foo.
//
// A Deployment may have several owners, but at most one of them controls it. OwnerOf never returns
// another object that merely has the same name, now or at another time. If the watch missed the
// deletion of a Deployment, the handler gets a tombstone, and OwnerOf looks into it. The returned
// Foo is the cache's own, so don't change it.
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
