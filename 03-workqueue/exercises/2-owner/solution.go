//go:build solution

// Package owner finds out which Foo a Deployment belongs to.
package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

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
	// 1. Get the Deployment. A tombstone has the last version that the cache had.
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return nil, false
	}

	// 2. Find the owner that controls it. Other owners only protect it from the garbage collector.
	owner := metav1.GetControllerOf(deployment)
	if owner == nil {
		return nil, false
	}

	// 3. Look that owner up by its name, and compare the UIDs. No other object ever has the same
	// UID, so there is no need to compare kind and group. The version may even differ, because a
	// reference keeps the one with which it was written.
	foo, err := listers.NewNamespaced(foos, deployment.Namespace).Get(owner.Name)
	if err != nil || foo.UID != owner.UID {
		return nil, false // the owner is gone, or so new that the cache doesn't have it yet
	}
	return foo, true
}
