//go:build check || solution

// These tests check what Sync promises. The server is one of client-go's fakes. Each test fills the
// cache itself, and so decides how far it is behind. The Foos ask for three Pods.
//
// As given, Sync is right as long as the cache has everything. `workshop test` checks these
// failures:
//
// fails: TestSyncWithACacheThatIsBehind/the Foo's turn comes again and again before any event
// says: the Foo has 12 Pods, want 3
//
// fails: TestSyncWithACacheThatIsBehind/the Foo's turn comes again after the first event
// says: the Foo has 5 Pods, want 3
//
// fails: TestSyncWithACacheThatIsBehind/the program restarts before any event
// says: what the program remembered is gone
//
// fails: TestSyncWithACacheThatIsBehind/a Pod is created, but the answer is lost
// says: the Foo has 4 Pods, want 3

package stale

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	typedfake "k8s.io/client-go/kubernetes/typed/core/v1/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

const wanted = 3

var (
	podsResource = corev1.SchemeGroupVersion.WithResource("pods")
	podKind      = corev1.SchemeGroupVersion.WithKind("Pod")
)

func TestSync(t *testing.T) {
	t.Run("a Foo gets its Pods", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.wantPods("there was nothing before")
	})

	t.Run("what is there costs no request", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.server.ClearActions()
		_ = c.sync()
		for _, action := range c.server.Actions() {
			t.Errorf("the cache has all Pods, and Sync sends a request: %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	})

	t.Run("a Pod that is gone is made again, whichever it was", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.wantPods("there was nothing before")
		for i := range wanted {
			gone := c.pods()[i]
			c.remove(gone)
			c.settle()
			c.wantPods("one was there no more, and the cache knew: " + gone.Name)
		}
	})

	t.Run("somebody else's Pod counts for nothing", func(t *testing.T) {
		c := newCluster(t)
		theirs := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "by-hand", Labels: labelsOf(c.foo)}}
		if err := c.stored.Add(theirs); err != nil {
			t.Fatal(err)
		}
		c.settle()
		c.wantPods("there is another one, made by hand, with the same labels")
	})

	t.Run("another Foo of the namespace gets its Pods too", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.foo, c.most = aFoo("other"), 0
		c.settle()
		c.wantPods("another Foo had its own already")
	})

	for sentence, known := range map[string]bool{
		"somebody else's Pod took the name of one that is gone: an error, or a Pod of another name": true,
		"it did, and the cache doesn't know yet: an error too, or a Pod of another name":            false,
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			c.settle()
			c.wantPods("there was nothing before")
			gone := c.pods()[0]
			c.remove(gone)
			c.know(all)
			theirs := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: gone.Name, Labels: labelsOf(c.foo)}}
			if err := c.stored.Add(theirs); err != nil {
				t.Fatal(err)
			}
			if known {
				c.know(all)
			}
			if err := c.sync(); err == nil && len(c.pods()) < wanted {
				t.Errorf("%s is another's Pod now, the Foo has %d Pods, want %d, and Sync returned no error: nobody will try again",
					gone.Name, len(c.pods()), wanted)
			}
			c.remove(theirs)
			c.settle()
			c.wantPods("the name was another's for a while, and is free again")
		})
	}

	t.Run("a create that is refused is an error, and done later", func(t *testing.T) {
		c := newCluster(t)
		c.nextCreate = func(*corev1.Pod) error { return apierrors.NewInternalError(errors.New("etcd is away")) }
		if err := c.sync(); err == nil {
			t.Error("the server answered 500, and Sync returned no error: nobody will try again")
		}
		c.settle()
		c.wantPods("the server had refused one at first")
	})
}

func TestSyncWithACacheThatIsBehind(t *testing.T) {
	t.Run("the Foo's turn comes again and again before any event", func(t *testing.T) {
		c := newCluster(t)
		for range wanted + 1 {
			_ = c.sync() // somebody may have changed the Foo's labels, for example
		}
		c.settle()
		c.wantPods("when its turn came again, the cache had none of the Pods that had just been created")
	})

	t.Run("the Foo's turn comes again after the first event", func(t *testing.T) {
		c := newCluster(t)
		_ = c.sync()
		c.know(1)
		_ = c.sync() // the Pod's event has enqueued the Foo
		c.settle()
		c.wantPods("when its turn came again, the cache had one of the Pods that had just been created")
	})

	t.Run("the program restarts before any event", func(t *testing.T) {
		c := newCluster(t)
		for range wanted + 1 {
			_ = c.sync()
			c.restart() // its first list may come from an API server whose own cache is behind
		}
		c.settle()
		c.wantPods("what the program remembered is gone, and the cache had none of the Pods that it had created")
	})

	t.Run("a Pod is created, but the answer is lost", func(t *testing.T) {
		c := newCluster(t)
		c.nextCreate = func(pod *corev1.Pod) error {
			if err := c.stored.Add(pod); err != nil {
				return err
			}
			return errors.New("the connection was reset")
		}
		_ = c.sync()
		_ = c.sync()
		c.settle()
		c.wantPods("one of the creates was an error to the client, and none to the server")
	})
}

// cluster is a server, a cache that the test fills, and a Syncer that uses both.
type cluster struct {
	*testing.T
	foo    *samplecontrollerv1alpha1.Foo
	server *clienttesting.Fake
	stored clienttesting.ObjectTracker // the objects on the server
	cache  cache.Indexer
	syncer *Syncer
	most   int // the most Pods that the Foo has had after a Sync
	// nextCreate, if set, replaces the next create, and its error is the server's answer.
	nextCreate func(*corev1.Pod) error
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{T: t, foo: aFoo("example")}
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	c.stored = clienttesting.NewObjectTracker(scheme, serializer.NewCodecFactory(scheme).UniversalDecoder())
	c.server = &clienttesting.Fake{}
	c.server.AddReactor("*", "*", clienttesting.ObjectReaction(c.stored))
	creates := 0
	c.server.PrependReactor("create", "pods", func(action clienttesting.Action) (handled bool, answer runtime.Object, err error) {
		pod := action.(clienttesting.CreateAction).GetObject().(*corev1.Pod)
		creates++
		pod.UID = types.UID(fmt.Sprint("uid ", creates))
		if pod.Name == "" {
			pod.Name = fmt.Sprint(pod.GenerateName, "x", creates) // a real server adds random letters
		}
		if instead := c.nextCreate; instead != nil {
			c.nextCreate = nil
			return true, nil, instead(pod)
		}
		return false, nil, nil // the next in the chain stores it
	})
	c.restart()
	return c
}

func aFoo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name)},
		Spec:       samplecontrollerv1alpha1.FooSpec{Replicas: new(int32(wanted))},
	}
}

// restart starts a new process, which has an empty cache and remembers nothing.
func (c *cluster) restart() {
	c.cache = cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	c.syncer = &Syncer{Pods: corelisters.NewPodLister(c.cache), Client: &typedfake.FakeCoreV1{Fake: c.server}}
}

// sync calls Sync once. No event arrives meanwhile, so a Sync that waits for one runs into the
// timeout. In the bubble, that takes no time.
func (c *cluster) sync() (err error) {
	synctest.Test(c.T, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err = c.syncer.Sync(ctx, c.foo.DeepCopy())
	})
	c.most = max(c.most, len(c.pods()))
	return err
}

// settle calls Sync several times, and all events arrive before each call.
func (c *cluster) settle() {
	c.Helper()
	c.know(all)
	for range 2 * wanted {
		_ = c.sync()
		c.know(all)
	}
	if err := c.sync(); err != nil {
		c.Errorf("the cache knows everything, and Sync still returns the error %q", err)
	}
}

const all = 1000

// know fills the cache with the first n Pods of the server.
func (c *cluster) know(n int) {
	stored := c.list()
	var items []any
	for i := range stored[:min(n, len(stored))] {
		items = append(items, &stored[i])
	}
	if err := c.cache.Replace(items, ""); err != nil {
		c.Fatal(err)
	}
}

func (c *cluster) remove(pod *corev1.Pod) {
	if err := c.stored.Delete(podsResource, pod.Namespace, pod.Name); err != nil {
		c.Fatal(err)
	}
}

// list returns the Pods on the server.
func (c *cluster) list() []corev1.Pod {
	list, err := c.stored.List(podsResource, podKind, "default")
	if err != nil {
		c.Fatal(err)
	}
	return list.(*corev1.PodList).Items
}

// pods returns the Pods on the server that the Foo controls.
func (c *cluster) pods() (pods []*corev1.Pod) {
	for _, pod := range c.list() {
		if metav1.IsControlledBy(&pod, c.foo) {
			pods = append(pods, &pod)
		}
	}
	return pods
}

// wantPods checks that the Foo has its Pods now, and has never had more. why says what happened
// before.
func (c *cluster) wantPods(why string) {
	c.Helper()
	switch got := len(c.pods()); {
	case got != wanted:
		c.Fatalf("the Foo has %d Pods, want %d\n%s", got, wanted, why)
	case c.most > wanted:
		c.Fatalf("the Foo had %d Pods for a while, want never more than %d\n%s", c.most, wanted, why)
	}
}
