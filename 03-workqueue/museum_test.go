// The bug museum: how sample-controller finds out whose Deployment an event concerns, and how this
// chapter does. `go test -v -run TestMuseum .` runs both. The course's scripts/MUSEUM.md lists all
// bugs.

package main

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Another API group has a kind Foo too, and one of its Foos controls a Deployment.
func TestMuseum(t *testing.T) {
	c := newCluster(t)
	theirs := deploymentOf(aFoo("theirs", "web", 1))
	theirs.OwnerReferences[0].APIVersion = "foo.example.com/v1"
	t.Run("ownership is decided by the owner's kind alone", func(t *testing.T) {
		t.Run("the wrong way", func(t *testing.T) {
			checkEnqueued(t, ownerByKind(theirs), "[default/theirs]")
		})
		t.Run("our way", func(t *testing.T) {
			keys, err := c.findFoosForDeployment(t.Context(), theirs)
			if err != nil {
				t.Fatal(err)
			}
			checkEnqueued(t, keys, "[]")
		})
	})
}

// checkEnqueued logs the keys, so that go test -v shows them.
func checkEnqueued(t *testing.T, keys []types.NamespacedName, want string) {
	t.Helper()
	got := fmt.Sprint(keys)
	t.Log("enqueued: " + got)
	if got != want {
		t.Errorf("want: %s", want)
	}
}

// ownerByKind does what sample-controller's handleObject does: it looks at the owner's kind, and not
// at its group.
func ownerByKind(deployment metav1.Object) []types.NamespacedName {
	owner := metav1.GetControllerOf(deployment)
	if owner == nil || owner.Kind != "Foo" {
		return nil
	}
	return []types.NamespacedName{{Namespace: deployment.GetNamespace(), Name: owner.Name}}
}
