// The index by which the cache is asked for the ConfigMaps that a Foo controls. Given: there is nothing to do here.

package twice

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// byOwner is a question to a cache. The server knows no such index.
const byOwner = "owner"

// indexByOwner puts an object under the UID of its controller.
func indexByOwner(object client.Object) []string {
	if owner := metav1.GetControllerOf(object); owner != nil {
		return []string{string(owner.UID)}
	}
	return nil
}
