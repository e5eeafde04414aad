//go:build check || solution

// These tests check what Sync promises. The server is one of client-go's fakes. Each test fills the
// cache itself, and so decides how far it is behind. The Foos ask for three Pods.
//
// As given, Sync is right as long as the cache has everything. `workshop test` checks these
// failures:
//
// fails: TestSyncWithACacheThatIsBehind/the Foo is processed again and again before any event
// says: the Foo has 12 Pods, want 3
//
// fails: TestSyncWithACacheThatIsBehind/the Foo is processed again after the first event
// says: the Foo has 5 Pods, want 3
//
// fails: TestSyncWithACacheThatIsBehind/the program restarts before any event
// says: the restarted program remembers nothing
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

const desiredPods = 3

var (
	podsResource = corev1.SchemeGroupVersion.WithResource("pods")
	podKind      = corev1.SchemeGroupVersion.WithKind("Pod")
)

func TestSync(t *testing.T) {
	t.Run("a Foo gets its Pods", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.checkPods("it had none before")
	})

	t.Run("no request is sent if the cache has all Pods", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.server.ClearActions()
		_ = c.sync()
		for _, action := range c.server.Actions() {
			t.Errorf("the cache has all Pods, but Sync sent a request: %s %s", action.GetVerb(), action.GetResource().Resource)
		}
	})

	t.Run("a Pod that was deleted is created again, whichever it was", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.checkPods("it had none before")
		for i := range desiredPods {
			deleted := c.pods()[i]
			c.remove(deleted)
			c.settle()
			c.checkPods("its Pod " + deleted.Name + " was deleted, and the cache was up to date")
		}
	})

	t.Run("somebody else's Pod doesn't count", func(t *testing.T) {
		c := newCluster(t)
		theirs := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "by-hand", Labels: labelsOf(c.foo)}}
		if err := c.stored.Add(theirs); err != nil {
			t.Fatal(err)
		}
		c.settle()
		c.checkPods("another Pod, which was created by hand, has the same labels")
	})

	t.Run("another Foo in the namespace gets its Pods too", func(t *testing.T) {
		c := newCluster(t)
		c.settle()
		c.foo, c.most = aFoo("other"), 0
		c.settle()
		c.checkPods("another Foo already had its Pods")
	})

	for sentence, inCache := range map[string]bool{
		"somebody else's Pod has the name of a deleted one: an error, or a new name":   true,
		"somebody else's Pod has it, but the cache is behind: an error, or a new name": false,
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t)
			c.settle()
			c.checkPods("it had none before")
			deleted := c.pods()[0]
			c.remove(deleted)
			c.fillCache(all)
			theirs := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: deleted.Name, Labels: labelsOf(c.foo)}}
			if err := c.stored.Add(theirs); err != nil {
				t.Fatal(err)
			}
			if inCache {
				c.fillCache(all)
			}
			if err := c.sync(); err == nil && len(c.pods()) < desiredPods {
				t.Errorf("%s is somebody else's Pod now, so the Foo has %d Pods, want %d, but Sync returned no error: nobody retries",
					deleted.Name, len(c.pods()), desiredPods)
			}
			c.remove(theirs)
			c.settle()
			c.checkPods("somebody else's Pod had one of the names for a while")
		})
	}

	t.Run("a refused create is an error, and a retry succeeds", func(t *testing.T) {
		c := newCluster(t)
		c.nextCreate = func(*corev1.Pod) error { return apierrors.NewInternalError(errors.New("etcd is down")) }
		if err := c.sync(); err == nil {
			t.Error("the server answered 500, but Sync returned no error: nobody retries")
		}
		c.settle()
		c.checkPods("the server refused one create at first")
	})
}

func TestSyncWithACacheThatIsBehind(t *testing.T) {
	t.Run("the Foo is processed again and again before any event", func(t *testing.T) {
		c := newCluster(t)
		for range desiredPods + 1 {
			_ = c.sync() // somebody may have changed the Foo's labels, for example
		}
		c.settle()
		c.checkPods("when it was processed again, the cache had none of the Pods that had just been created")
	})

	t.Run("the Foo is processed again after the first event", func(t *testing.T) {
		c := newCluster(t)
		_ = c.sync()
		c.fillCache(1)
		_ = c.sync() // the Pod's event has enqueued the Foo
		c.settle()
		c.checkPods("when it was processed again, the cache had one of the Pods that had just been created")
	})

	t.Run("the program restarts before any event", func(t *testing.T) {
		c := newCluster(t)
		for range desiredPods + 1 {
			_ = c.sync()
			c.restart() // its first list may come from an API server whose own cache is behind
		}
		c.settle()
		c.checkPods("the restarted program remembers nothing, and the cache had none of the Pods that it had created")
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
		c.checkPods("one create succeeded on the server, but the client got an error")
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
		Spec:       samplecontrollerv1alpha1.FooSpec{Replicas: new(int32(desiredPods))},
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
	c.fillCache(all)
	for range 2 * desiredPods {
		_ = c.sync()
		c.fillCache(all)
	}
	if err := c.sync(); err != nil {
		c.Errorf("the cache is up to date, but Sync still returns the error %q", err)
	}
}

const all = 1000

// fillCache fills the cache with the first n Pods of the server.
func (c *cluster) fillCache(n int) {
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

// checkPods checks that the Foo has its Pods now, and has never had more. why tells what happened
// before.
func (c *cluster) checkPods(why string) {
	c.Helper()
	switch got := len(c.pods()); {
	case got != desiredPods:
		c.Fatalf("the Foo has %d Pods, want %d\n%s", got, desiredPods, why)
	case c.most > desiredPods:
		c.Fatalf("the Foo had %d Pods for a while, want at most %d\n%s", c.most, desiredPods, why)
	}
}
