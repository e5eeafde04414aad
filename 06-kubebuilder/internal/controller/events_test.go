// Which Foos a Deployment concerns by its name, asked of a fake client. Who comes to Reconcile in the end is in watch_test.go.

package controller

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

func TestFoosThatWant(t *testing.T) {
	foo := aFoo("example", "web", 3)
	elsewhere := aFoo("elsewhere", "web", 1, func(foo *v1alpha1.Foo) { foo.Namespace = "other" })
	for name, test := range map[string]struct {
		given []client.Object
		event client.Object
		want  []string
	}{
		"nobody wants the name": {
			given: []client.Object{aFoo("example", "db", 3)},
			event: deploymentOf(foo),
		},
		"all who want the name, whoever owns it": {
			given: []client.Object{foo, aFoo("another", "web", 1), aFoo("content", "db", 1)},
			event: deploymentOf(foo, unowned),
			want:  []string{"default/another", "default/example"},
		},
		"not those in other namespaces": {
			given: []client.Object{foo, elsewhere},
			event: deploymentOf(foo),
			want:  []string{"default/example"},
		},
		"only those": {
			given: []client.Object{foo, elsewhere},
			event: deploymentOf(elsewhere),
			want:  []string{"other/elsewhere"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, test.given...)
			c.informed()

			var keys []string
			for _, request := range c.foosThatWant(t.Context(), test.event) {
				keys = append(keys, request.String())
			}

			if diff := cmp.Diff(test.want, keys); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
}

// There is nobody to return an error to. That the event is lost is said.
func TestFoosThatWantWithoutAnAnswer(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo)
	c.informed()
	c.refuseNext("list foos", errors.New("the cache is gone"))
	log := utils.CaptureLog(t)

	keys := c.foosThatWant(t.Context(), deploymentOf(foo))

	if len(keys) != 0 {
		t.Errorf("keys: %v, want none", keys)
	}
	log.MustHave(t, "Lost an event", "the cache is gone", "default/web")
}
