// The index with which the cache finds the ConfigMaps that a Foo controls. You don't need to change
// anything here.

package twice

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byOwner is the name of the index. The server doesn't have it, only the cache does.
const byOwner = "owner"

// indexByOwner indexes an object by the UID of its controller.
func indexByOwner(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}
