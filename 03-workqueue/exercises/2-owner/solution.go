//go:build solution

// Package owner is about whose a Deployment is.
package owner

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// OwnerOf returns the Foo that controls the Deployment with which a handler was called, if the cache has it.
//
// Of all owners that a Deployment has, at most one controls it. It is this very object, and not another one that has its name,
// now or at another time. A Deployment whose deletion the watch missed comes in a tombstone, and counts like any other.
// What is returned is the cache's own: look, don't touch.
func OwnerOf(obj any, foos listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo]) (foo *samplecontrollerv1alpha1.Foo, found bool) {
	// 1. The Deployment, perhaps the last that the cache had of it.
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	deployment, ok := obj.(*appsv1.Deployment)
	if !ok {
		return nil, false
	}

	// 2. The reference to its controller. The others only keep it from being garbage collected.
	owner := metav1.GetControllerOf(deployment)
	if owner == nil {
		return nil, false
	}

	// 3. The name is where the cache may have that object; the UID says whether it does. No other object ever has the same
	// one, of whatever kind and group, so these needn't be compared. A version says nothing of whose it is: a reference keeps
	// the one that was new when it was written.
	foo, err := listers.NewNamespaced(foos, deployment.Namespace).Get(owner.Name)
	if err != nil || foo.UID != owner.UID {
		return nil, false // gone, or too new for this cache: then its own event is on its way
	}
	return foo, true
}
