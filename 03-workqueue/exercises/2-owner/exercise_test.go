//go:build check || solution

// These tests check what OwnerOf promises. The cache has two Foos in the namespace default, example
// and other, and another example in the namespace elsewhere.
//
// As given, OwnerOf fails six of them. `workshop test` checks these failures:
//
// fails: TestOwnerOf/a Foo is among its owners, but something else controls it
// says: OwnerOf found Foo default/example (uid of example), want none
//
// fails: TestOwnerOf/two Foos own it, and the second one controls it
// says: OwnerOf found Foo default/other (uid of other), want Foo default/example (uid of example)
//
// fails: TestOwnerOf/a Foo of somebody else's group controls it
// says: a Foo of another group is another kind of object
//
// fails: TestOwnerOf/its Foo is gone, and a new one has the same name
// says: the cached Foo was created later
//
// fails: TestOwnerOf/a Foo in another namespace is named as its controller
// says: OwnerOf found Foo default/example (uid of example), want none
//
// fails: TestOwnerOf/its deletion arrives as a tombstone
// says: OwnerOf found none, want Foo default/example (uid of example)

package owner

import (
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

func TestOwnerOf(t *testing.T) {
	foos := listerOf(t, aFoo("default", "example", "uid of example"), aFoo("default", "other", "uid of other"),
		aFoo("elsewhere", "example", "uid of example elsewhere"))
	const ours = "samplecontroller.k8s.io/v1alpha1"
	example := controller(ours, "Foo", "example", "uid of example")
	const none, theExample = "none", "Foo default/example (uid of example)"

	for sentence, test := range map[string]struct {
		given any
		want  string
		why   string
	}{
		"a Foo controls it": {
			given: deployment(example),
			want:  theExample,
		},
		"nothing owns it": {
			given: deployment(),
			want:  none,
		},
		"another kind of that name controls it": {
			given: deployment(controller(ours, "Bar", "example", "uid of a Bar")),
			want:  none,
		},
		"its Foo is gone": {
			given: deployment(controller(ours, "Foo", "gone", "uid of gone")),
			want:  none,
		},
		"a Foo is among its owners, but something else controls it": {
			given: deployment(notController(example), controller("apps.example.com/v1", "App", "shop", "uid of shop")),
			want:  none,
			why:   "other owners only protect it from the garbage collector",
		},
		"two Foos own it, and the second one controls it": {
			given: deployment(notController(controller(ours, "Foo", "other", "uid of other")), example),
			want:  theExample,
			why:   "only one of them is marked as its controller",
		},
		"a Foo of somebody else's group controls it": {
			given: deployment(controller("foo.example.com/v1", "Foo", "example", "uid of their example")),
			want:  none,
			why:   "a Foo of another group is another kind of object",
		},
		"the reference to its Foo names another version of our group": {
			given: deployment(controller("samplecontroller.k8s.io/v1", "Foo", "example", "uid of example")),
			want:  theExample,
			why:   "every version shows the same object",
		},
		"its Foo is gone, and a new one has the same name": {
			given: deployment(controller(ours, "Foo", "example", "uid of the first example")),
			want:  none,
			why:   "the cached Foo was created later, and has nothing to do with this Deployment",
		},
		"a Foo in another namespace is named as its controller": {
			given: deployment(controller(ours, "Foo", "example", "uid of example elsewhere")),
			want:  none,
			why:   "an owner must be in the same namespace, so the garbage collector treats this one as missing",
		},
		"its deletion arrives as a tombstone": {
			given: cache.DeletedFinalStateUnknown{Key: "default/web", Obj: deployment(example)},
			want:  theExample,
			why:   "a cache.DeletedFinalStateUnknown contains the last version that the cache had",
		},
		"it isn't a Deployment": {
			given: aFoo("default", "example", "uid of example"),
			want:  none,
		},
		"it isn't a Deployment, and arrives as a tombstone": {
			given: cache.DeletedFinalStateUnknown{Key: "default/example", Obj: aFoo("default", "example", "uid of example")},
			want:  none,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := none
			if foo, found := OwnerOf(test.given, foos); found {
				got = fmt.Sprintf("Foo %s/%s (%s)", foo.Namespace, foo.Name, foo.UID)
			}
			if got != test.want {
				t.Errorf("OwnerOf found %s, want %s\n%s", got, test.want, test.why)
			}
		})
	}
}

// listerOf returns a lister for a cache with these Foos.
func listerOf(t *testing.T, foos ...*samplecontrollerv1alpha1.Foo) listers.ResourceIndexer[*samplecontrollerv1alpha1.Foo] {
	indexer := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	for _, foo := range foos {
		if err := indexer.Add(foo); err != nil {
			t.Fatal(err)
		}
	}
	return listers.New[*samplecontrollerv1alpha1.Foo](indexer, samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource())
}

func aFoo(namespace, name string, uid types.UID) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, UID: uid}}
}

// deployment returns a Deployment in the namespace default that has these owners.
func deployment(owners ...metav1.OwnerReference) *appsv1.Deployment {
	return &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", OwnerReferences: owners}}
}

// controller returns a Deployment's reference to the owner that controls it.
func controller(apiVersion, kind, name string, uid types.UID) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: uid, Controller: new(true)}
}

// notController returns the same reference, but to an owner that doesn't control it.
func notController(owner metav1.OwnerReference) metav1.OwnerReference {
	owner.Controller = nil
	return owner
}
