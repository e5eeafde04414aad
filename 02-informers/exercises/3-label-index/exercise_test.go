//go:build check || solution

// The tests of Strays: which Deployments it finds, and how many it looks at to find them. The
// informer's indexer is filled by hand.
//
// As given, Strays finds the right ones, but looks at all. `workshop test` checks these failures:
//
// fails: TestTheIndex/a question looks only at the Deployments that have the label
// says: it looked at 1003 Deployments, want 3
//
// fails: TestTheIndex/a Deployment without the label stands nowhere in it
// says: Indexers returns no index
//
// fails: TestTheIndex/it is kept up to date by each Deployment that comes, and not made by each question
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
		then  func(*informed) // a later change, which the informer hears of
		want  []string
	}{
		"a Deployment that the Foo controls is no stray": {
			given: deployments(labelled("web", controlledBy("uid of example"))),
		},
		"a Deployment that nobody controls is one": {
			given: deployments(labelled("web")),
			want:  []string{"web"},
		},
		"so is the Deployment of an earlier Foo of that name": {
			given: deployments(labelled("web", controlledBy("uid of a Foo that is gone"))),
			want:  []string{"web"},
		},
		"all of several are found, and the Foo's own is left out": {
			given: deployments(labelled("a"), labelled("b"), labelled("web", controlledBy("uid of example"))),
			want:  []string{"a", "b"},
		},
		"a Deployment with another Foo's label is none": {
			given: deployments(labelled("web", withLabel("other"))),
		},
		"a Deployment without the label, or without any, is none": {
			given: deployments(labelled("some", without("controller")), labelled("none", func(d *appsv1.Deployment) { d.Labels = nil })),
		},
		"a Deployment in another namespace is none: there, another Foo has that name": {
			given: deployments(labelled("web", in("other"))),
		},
		"a Deployment that gets the label later is one": {
			given: deployments(labelled("web", without("controller"))),
			then:  func(i *informed) { i.hears(i.Update, labelled("web")) },
			want:  []string{"web"},
		},
		"a stray that gets another Foo's label is none any more": {
			given: deployments(labelled("web")),
			then:  func(i *informed) { i.hears(i.Update, labelled("web", withLabel("other"))) },
		},
		"a stray that loses the label is none any more": {
			given: deployments(labelled("web")),
			then:  func(i *informed) { i.hears(i.Update, labelled("web", without("controller"))) },
		},
		"a stray that is deleted is none any more": {
			given: deployments(labelled("web")),
			then:  func(i *informed) { i.hears(i.Delete, labelled("web")) },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			i := newInformed(t, test.given...)
			if test.then != nil {
				i.strays("example") // if Strays remembers this result, it will be wrong
				test.then(i)
			}

			if got := i.strays("example"); !slices.Equal(got, test.want) {
				t.Errorf("it found %q, want %q", got, test.want)
			}
		})
	}
}

// You don't need a stopwatch to see what an index is good for. These tests count how many
// Deployments are looked at.
func TestTheIndex(t *testing.T) {
	t.Run("a question looks only at the Deployments that have the label", func(t *testing.T) {
		i := newInformed(t, labelled("a"), labelled("b"), labelled("web", controlledBy("uid of example")))
		for n := range 1000 {
			i.hears(i.Add, labelled(fmt.Sprint("other-", n), withLabel(fmt.Sprint("foo-", n))))
		}

		i.strays("example")

		if i.lookedAt != 3 {
			t.Errorf("it looked at %d Deployments, want 3: there are 1003, and 3 have the Foo's label", i.lookedAt)
		}
	})

	t.Run("a question looks only at the Foo's own namespace", func(t *testing.T) {
		i := newInformed(t, labelled("web"), labelled("web", in("b")), labelled("web", in("c")))

		i.strays("example")

		if i.lookedAt != 1 {
			t.Errorf("it looked at %d Deployments, want 1: the two others are in other namespaces", i.lookedAt)
		}
	})

	t.Run("namespace and name are kept apart: a-b in default is not b in default-a", func(t *testing.T) {
		i := newInformed(t, labelled("web", in("default-a"), withLabel("b")), labelled("web", in("defaul"), withLabel("ta-b")))

		if got := i.strays("a-b"); len(got) > 0 {
			t.Errorf("for the Foo a-b in the namespace default it found %q, want none:\n"+
				"there is one in default-a with the label of b, and one in defaul with the label of ta-b", got)
		}
	})

	t.Run("a Deployment without the label stands nowhere in it", func(t *testing.T) {
		i := newInformed(t, labelled("web"), labelled("some", without("controller")), labelled("none", func(d *appsv1.Deployment) { d.Labels = nil }))

		for _, index := range i.indexes() {
			if values := i.ListIndexFuncValues(index); len(values) != 1 {
				t.Errorf("the index %q has Deployments under %q, want one value: only one Deployment has the label", index, values)
			}
		}
	})

	t.Run("it is kept up to date by each Deployment that comes, and not made by each question", func(t *testing.T) {
		i := newInformed(t)
		for n := range 10 {
			i.hears(i.Add, labelled(fmt.Sprint("web-", n)))
		}
		filled := i.calls

		for range 5 {
			i.strays("example")
		}

		if want := 10 * len(i.indexes()); filled != want {
			t.Errorf("for 10 Deployments that came, the index function was called %d times, want %d", filled, want)
		}
		if i.calls != filled {
			t.Errorf("5 questions have called the index function %d times, want none: ask by its value (ByIndex)", i.calls-filled)
		}
	})
}

// informed is an informer's indexer with the indexes from Indexers. It counts how it is used.
type informed struct {
	cache.Indexer
	lookedAt int // objects that it has returned
	calls    int // calls of the index functions
	t        *testing.T
}

func newInformed(t *testing.T, given ...*appsv1.Deployment) *informed {
	t.Helper()
	i := &informed{t: t}
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
		i.hears(i.Add, d)
	}
	return i
}

// hears adds, changes or deletes a Deployment, as the informer does when it hears of it.
func (i *informed) hears(what func(any) error, d *appsv1.Deployment) {
	i.t.Helper()
	if err := what(d); err != nil {
		i.t.Fatal(err)
	}
}

// strays returns the names of the strays of a Foo in the namespace default.
func (i *informed) strays(foo string) (names []string) {
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
func (i *informed) indexes() (names []string) {
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

func (i *informed) List() []any { return i.count(i.Indexer.List()) }

func (i *informed) Index(name string, obj any) ([]any, error) {
	objects, err := i.Indexer.Index(name, obj)
	return i.count(objects), err
}

func (i *informed) ByIndex(name, value string) ([]any, error) {
	objects, err := i.Indexer.ByIndex(name, value)
	return i.count(objects), err
}

func (i *informed) Get(obj any) (any, bool, error) {
	i.lookedAt++
	return i.Indexer.Get(obj)
}

func (i *informed) GetByKey(key string) (any, bool, error) {
	i.lookedAt++
	return i.Indexer.GetByKey(key)
}

func (i *informed) count(objects []any) []any {
	i.lookedAt += len(objects)
	return objects
}

// Helpers that the tests are written with.

func deployments(all ...*appsv1.Deployment) []*appsv1.Deployment { return all }

// labelled returns a Deployment in the namespace default with the label of the Foo example. Nobody
// controls it.
func labelled(name string, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
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
