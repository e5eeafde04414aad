// The garbage collector looks for an owner in the dependent's own namespace. If a dependent is
// cluster-scoped, it is never deleted with a namespaced owner. If it is in another namespace, it is
// deleted at once. Chapter 03's TestIntegrationOwnersAndScopes shows both.
//
// SetControllerReference refuses both. An owner reference that you build yourself isn't checked, not
// even by the API server.

package pitfalls

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func TestOwnerScope(t *testing.T) {
	configMap := func(namespace string) client.Object {
		return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "a"}}
	}
	priorityClass := func() client.Object {
		return &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	}
	for _, test := range []struct {
		sentence         string
		owner, dependent client.Object
		want             string
	}{
		{"right: the owner is in the same namespace", configMap("here"), configMap("here"), ""},
		{"right: the owner is cluster-scoped", priorityClass(), configMap("here"), ""},
		{
			"wrong: the owner has a namespace, and the dependent has none", configMap("here"), priorityClass(),
			"cluster-scoped resource must not have a namespace-scoped owner, owner's namespace here",
		},
		{
			"wrong: the owner is in another namespace", configMap("here"), configMap("there"),
			"cross-namespace owner references are disallowed, owner's namespace here, obj's namespace there",
		},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			got := ""
			if err := controllerutil.SetControllerReference(test.owner, test.dependent, scheme.Scheme); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got the error %q, want %q", got, test.want)
			}
			if owned := metav1.IsControlledBy(test.dependent, test.owner); owned != (test.want == "") {
				t.Errorf("the dependent has the owners %v", test.dependent.GetOwnerReferences())
			}
		})
	}
}
