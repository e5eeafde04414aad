// Which Foos a Deployment concerns by its name, asked of a fake client. Who comes to Reconcile in the end is in watch_test.go.

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
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
		"as the watch without Go types has it": {
			given: []client.Object{foo},
			event: untypedOf(t, deploymentOf(foo)),
			want:  []string{"default/example"},
		},
	} {
		for reads, change := range map[string]func(*cluster){"typed": func(*cluster) {}, "unstructured": (*cluster).readUntyped} {
			t.Run(name+"/"+reads, func(t *testing.T) {
				c := newCluster(t, test.given...)
				change(c)
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
}

// There is nobody to return an error to. That the event is lost is said.
func TestFoosThatWantWithoutAnAnswer(t *testing.T) {
	foo := aFoo("example", "web", 3)
	c := newCluster(t, foo)
	c.informed()
	c.refuseNext("list foos", errors.New("the cache is gone"))
	log := captureLog(t)

	keys := c.foosThatWant(t.Context(), deploymentOf(foo))

	if len(keys) != 0 {
		t.Errorf("keys: %v, want none", keys)
	}
	log.mustHave(t, "Lost an event", "the cache is gone", "default/web")
}
