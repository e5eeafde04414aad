//go:build check || solution

// The tests of Strays: which Deployments it finds, and how many it visits to find them. They fill
// the informer's indexer themselves.
//
// As given, Strays finds the right ones, but visits all. `workshop test` checks these failures:
//
// fails: TestIndex/a query visits only the Deployments that have the label
// says: Strays visited 1003 Deployments, want 3
//
// fails: TestIndex/a Deployment without the label isn't in the index
// says: Indexers returns no index
//
// fails: TestIndex/the index is updated by each change, not by each query
// says: Indexers returns no index

package labelindex

import (
	"fmt"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestStrays(t *testing.T) {
	for sentence, test := range map[string]struct {
		given []*appsv1.Deployment
		then  func(*countingIndexer) // a later change
		want  []string
	}{
		"a Deployment that the Foo controls isn't a stray": {
			given: deployments(labeled("web", controlledBy("uid of example"))),
		},
		"a Deployment without a controller is a stray": {
			given: deployments(labeled("web")),
			want:  []string{"web"},
		},
		"a Deployment of an earlier Foo with that name is a stray": {
			given: deployments(labeled("web", controlledBy("uid of a Foo that is gone"))),
			want:  []string{"web"},
		},
		"all strays are found, but not the Foo's own Deployment": {
			given: deployments(labeled("a"), labeled("b"), labeled("web", controlledBy("uid of example"))),
			want:  []string{"a", "b"},
		},
		"a Deployment with another Foo's label isn't a stray": {
			given: deployments(labeled("web", withLabel("other"))),
		},
		"a Deployment without the label, or without any labels, isn't a stray": {
			given: deployments(labeled("some", without("controller")), labeled("none", func(d *appsv1.Deployment) { d.Labels = nil })),
		},
		"a Deployment in another namespace isn't a stray, because its label names a Foo there": {
			given: deployments(labeled("web", in("other"))),
		},
		"a Deployment that gets the label later is a stray": {
			given: deployments(labeled("web", without("controller"))),
			then:  func(i *countingIndexer) { i.change(i.Update, labeled("web")) },
			want:  []string{"web"},
		},
		"a stray that gets another Foo's label isn't a stray any more": {
			given: deployments(labeled("web")),
			then:  func(i *countingIndexer) { i.change(i.Update, labeled("web", withLabel("other"))) },
		},
		"a stray that loses the label isn't a stray any more": {
			given: deployments(labeled("web")),
			then:  func(i *countingIndexer) { i.change(i.Update, labeled("web", without("controller"))) },
		},
		"a stray that is deleted isn't a stray any more": {
			given: deployments(labeled("web")),
			then:  func(i *countingIndexer) { i.change(i.Delete, labeled("web")) },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newCountingIndexer(t, test.given...)
			if test.then != nil {
				i.strays("example") // if Strays remembers this result, it will be wrong
				test.then(i)
			}

			if got := i.strays("example"); !slices.Equal(got, test.want) {
				t.Errorf("Strays found %q, want %q", got, test.want)
			}
		})
	}
}

// You don't need a stopwatch to see what an index is good for. These tests count how many
// Deployments a query visits.
func TestIndex(t *testing.T) {
	t.Run("a query visits only the Deployments that have the label", func(t *testing.T) {
		i := newCountingIndexer(t, labeled("a"), labeled("b"), labeled("web", controlledBy("uid of example")))
		for n := range 1000 {
			i.change(i.Add, labeled(fmt.Sprint("other-", n), withLabel(fmt.Sprint("foo-", n))))
		}

		i.strays("example")

		if i.visited != 3 {
			t.Errorf("Strays visited %d Deployments, want 3: there are 1003, and 3 have the Foo's label", i.visited)
		}
	})

	t.Run("a query visits only the Foo's own namespace", func(t *testing.T) {
		i := newCountingIndexer(t, labeled("web"), labeled("web", in("b")), labeled("web", in("c")))

		i.strays("example")

		if i.visited != 1 {
			t.Errorf("Strays visited %d Deployments, want 1: the two others are in other namespaces", i.visited)
		}
	})

	t.Run("namespace and name are kept apart: a-b in default isn't b in default-a", func(t *testing.T) {
		i := newCountingIndexer(t, labeled("web", in("default-a"), withLabel("b")), labeled("web", in("defaul"), withLabel("ta-b")))

		if got := i.strays("a-b"); len(got) > 0 {
			t.Errorf("Strays found %q for the Foo a-b in the namespace default, want none:\n"+
				"there is one in default-a with the label of b, and one in defaul with the label of ta-b", got)
		}
	})

	t.Run("a Deployment without the label isn't in the index", func(t *testing.T) {
		i := newCountingIndexer(t, labeled("web"), labeled("some", without("controller")), labeled("none", func(d *appsv1.Deployment) { d.Labels = nil }))

		for _, index := range i.indexes() {
			if values := i.ListIndexFuncValues(index); len(values) != 1 {
				t.Errorf("the index %q has Deployments under %q, want one value: only one Deployment has the label", index, values)
			}
		}
	})

	t.Run("the index is updated by each change, not by each query", func(t *testing.T) {
		i := newCountingIndexer(t)
		for n := range 10 {
			i.change(i.Add, labeled(fmt.Sprint("web-", n)))
		}
		filled := i.calls

		for range 5 {
			i.strays("example")
		}

		if want := 10 * len(i.indexes()); filled != want {
			t.Errorf("for 10 new Deployments, the index function was called %d times, want %d", filled, want)
		}
		if i.calls != filled {
			t.Errorf("5 queries have called the index function %d times, want none: use ByIndex, which needs only the value", i.calls-filled)
		}
	})
}

// countingIndexer is an informer's indexer with the indexes from Indexers. It counts its uses.
type countingIndexer struct {
	cache.Indexer
	visited int // objects that it has returned
	calls   int // calls of the index functions
	t       *testing.T
}

func newCountingIndexer(t *testing.T, given ...*appsv1.Deployment) *countingIndexer {
	t.Helper()
	i := &countingIndexer{t: t}
	// client-go's informers always have this index.
	i.Indexer = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	counted := cache.Indexers{}
	for name, index := range Indexers() {
		counted[name] = func(obj any) ([]string, error) {
			i.calls++
			return index(obj)
		}
	}
	if err := i.AddIndexers(counted); err != nil {
		t.Fatal(err)
	}
	for _, d := range given {
		i.change(i.Add, d)
	}
	return i
}

// change adds, updates or deletes a Deployment, as the informer does after an event.
func (i *countingIndexer) change(how func(any) error, d *appsv1.Deployment) {
	i.t.Helper()
	if err := how(d); err != nil {
		i.t.Fatal(err)
	}
}

// strays returns the names of the strays of a Foo in the namespace default.
func (i *countingIndexer) strays(foo string) (names []string) {
	i.t.Helper()
	found, err := Strays(i, &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: foo, UID: types.UID("uid of " + foo)}})
	if err != nil {
		i.t.Fatalf("the error is %q, want none", err)
	}
	for _, d := range found {
		names = append(names, d.Name)
	}
	slices.Sort(names)
	return names
}

// indexes returns the names of your indexes.
func (i *countingIndexer) indexes() (names []string) {
	i.t.Helper()
	for name := range Indexers() {
		names = append(names, name)
	}
	if len(names) == 0 {
		i.t.Fatal("Indexers returns no index")
	}
	return names
}

// These methods return objects, and count them.

func (i *countingIndexer) List() []any { return i.count(i.Indexer.List()) }

func (i *countingIndexer) Index(name string, obj any) ([]any, error) {
	objects, err := i.Indexer.Index(name, obj)
	return i.count(objects), err
}

func (i *countingIndexer) ByIndex(name, value string) ([]any, error) {
	objects, err := i.Indexer.ByIndex(name, value)
	return i.count(objects), err
}

func (i *countingIndexer) Get(obj any) (any, bool, error) {
	i.visited++
	return i.Indexer.Get(obj)
}

func (i *countingIndexer) GetByKey(key string) (any, bool, error) {
	i.visited++
	return i.Indexer.GetByKey(key)
}

func (i *countingIndexer) count(objects []any) []any {
	i.visited += len(objects)
	return objects
}

// Helpers that the tests are written with.

func deployments(all ...*appsv1.Deployment) []*appsv1.Deployment { return all }

// labeled returns a Deployment in the namespace default with the label of the Foo example. Nobody
// controls it.
func labeled(name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Namespace: "default", Name: name, Labels: map[string]string{"app": "nginx", "controller": "example"},
	}}
	for _, change := range changes {
		change(d)
	}
	return d
}

func withLabel(foo string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Labels["controller"] = foo }
}

func without(label string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { delete(d.Labels, label) }
}

func in(namespace string) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) { d.Namespace = namespace }
}

func controlledBy(uid types.UID) func(*appsv1.Deployment) {
	return func(d *appsv1.Deployment) {
		d.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: "example", UID: uid, Controller: new(true),
		}}
	}
}
