//go:build solution

// Package relist is about the changes that a program misses while it has no watch open.
package relist

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Relist reports what has changed while no watch was open. It compares listed, which has all
// objects that exist now, with known, which has all objects that were reported before and not
// deleted since.
//
// It reports each difference once. ADDED and MODIFIED come with the object as it is now, DELETED
// with its last known state. If a known name is listed with another UID, the known object was
// deleted and another one was added. All deletions are reported before anything else.
//
// Relist only compares resourceVersions for equality. It doesn't matter which one is greater.
//
// In the end, known has exactly the listed objects, so a second call with the same list reports
// nothing.
func Relist(
	known map[types.NamespacedName]metav1.PartialObjectMetadata,
	listed []metav1.PartialObjectMetadata,
	report func(watch.EventType, metav1.PartialObjectMetadata),
) {
	// 1. A known object is gone if it isn't listed, or if its name is listed with another UID. It
	// is deleted from known here, so that its successor is a new object in step 2.
	listedUIDs := make(map[types.NamespacedName]types.UID, len(listed))
	for _, object := range listed {
		listedUIDs[keyOf(&object)] = object.UID
	}
	for key, old := range known {
		if uid, found := listedUIDs[key]; !found || uid != old.UID {
			report(watch.Deleted, old)
			delete(known, key) // Go allows this during the iteration
		}
	}

	// 2. A listed object is new if it isn't known. It has changed if it is known at another
	// resourceVersion.
	for _, object := range listed {
		key := keyOf(&object)
		old, found := known[key]
		switch {
		case !found:
			report(watch.Added, object)
		case old.ResourceVersion != object.ResourceVersion:
			report(watch.Modified, object)
		}
		known[key] = object
	}
}

// keyOf returns the key that an object has in known.
func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}
