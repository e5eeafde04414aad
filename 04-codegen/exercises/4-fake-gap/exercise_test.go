//go:build check || solution

// The tests of Start. An informer lists first, then watches. A change in between may be lost, but
// in most runs there is none. These tests make the gap a minute wide, because their watch request
// takes that long. They run in a bubble of testing/synctest, where time passes only while all
// goroutines wait.
//
// As given, Start returns before the informer watches. `workshop test` checks these failures:
//
// fails: TestStart/a Foo is deleted as soon as Start has returned
// says: the informer has [example] in its cache, want []
//
// fails: TestStart/a Foo is deleted as soon as Start has returned for a second informer
// says: the second informer has [example] in its cache, want []
//
// fails: TestStart/the context ends before the informer watches
// says: Start returned no error, want one

package gap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/fake"
	typedv1alpha1 "example.com/operators/04-codegen/pkg/generated/clientset/versioned/typed/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

func TestStart(t *testing.T) {
	t.Run("a Foo existed before", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.start(c.newInformer())
			c.checkCache("the informer", informer, "as soon as Start had returned", "example")
		})
	})

	t.Run("a Foo is deleted as soon as Start has returned", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.start(c.newInformer())
			c.delete("example")
			c.wait()
			c.checkCache("the informer", informer, "an hour after the Foo was deleted: the list was sent before that, and the watch started after it")
		})
	})

	t.Run("a Foo is deleted as soon as Start has returned for a second informer", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			first := c.start(c.newInformer())
			c.wait()
			second := c.start(c.newInformer())
			c.delete("example")
			c.wait()
			c.checkCache("the first informer", first, "an hour after the Foo was deleted")
			c.checkCache("the second informer", second, "an hour after the Foo was deleted: at that time, only the first informer was watching")
		})
	})

	t.Run("a Foo is created as soon as Start has returned", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.start(c.newInformer())
			c.create("new")
			c.wait()
			c.checkCache("the informer", informer, "an hour after the second Foo was created", "example", "new")
		})
	})

	t.Run("a Foo is created after the informer's list and before its watch", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			c.betweenListAndWatch = func() { c.create("new") }
			informer := c.start(c.newInformer())
			c.wait()
			c.checkCache("the informer", informer, "an hour after the second Foo was created: the fake clientset reports it, "+
				"if the watch passes on its options, with the resourceVersion of the list", "example", "new")
		})
	})

	t.Run("a Foo is created in a namespace that the informer doesn't watch", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.start(c.newInformer())
			elsewhere := foo("new")
			elsewhere.Namespace = "elsewhere"
			if _, err := c.client.SamplecontrollerV1alpha1().Foos("elsewhere").Create(c.ctx, elsewhere, metav1.CreateOptions{}); err != nil {
				c.Fatal(err)
			}
			c.wait()
			c.checkCache("the informer", informer, "an hour after a Foo was created in a namespace that it doesn't watch", "example")
		})
	})

	t.Run("the informer watches before the list is in its cache", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.newInformer()
			// In this test, the informer needs an hour to put an object into its cache.
			slow := func(any) ([]string, error) { time.Sleep(time.Hour); return nil, nil }
			if err := informer.AddIndexers(cache.Indexers{"slow": slow}); err != nil {
				c.Fatal(err)
			}
			c.start(informer)
			if !informer.HasSynced() {
				c.Error("Start returned before the informer had synced, want it to wait for both the list and the watch")
			}
		})
	})

	t.Run("a Foo is deleted after a watch has ended and another one has started", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			informer := c.start(c.newInformer())
			c.wait()
			c.stream.Stop()
			c.wait()
			c.delete("example")
			c.wait()
			c.checkCache("the informer", informer, "an hour after the Foo was deleted")
		})
	})

	t.Run("the context ends before the informer watches", func(t *testing.T) {
		inABubble(t, func(c *cluster) {
			var cancel context.CancelFunc
			c.ctx, cancel = context.WithTimeout(c.ctx, time.Second)
			defer cancel()
			if err := c.call(c.newInformer()); err == nil {
				c.Error("Start returned no error, want one: the watch takes a minute to start, but the context ended after a second")
			}
		})
	})

	t.Run("outside a bubble", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		c := newCluster(t, ctx)
		c.requestTakes = 0
		informer := c.newInformer()
		returned := make(chan error, 1)
		go func() {
			defer func() {
				if r := recover(); r != nil {
					returned <- fmt.Errorf("Start panicked: %v", r)
				}
			}()
			returned <- Start(ctx, c.client, informer)
		}()
		select {
		case err := <-returned:
			if err != nil {
				t.Fatalf("Start returned the error %q, want none", err)
			}
		case <-ctx.Done():
			t.Fatal("Start didn't return within 10 seconds")
		}
		c.checkCache("the informer", informer, "as soon as Start had returned", "example")
	})
}

// cluster is a fake clientset with one Foo, and the settings of its informers.
type cluster struct {
	*testing.T
	ctx    context.Context // ends all informers
	client *fake.Clientset
	// requestTakes is the time that a watch request takes.
	requestTakes        time.Duration
	betweenListAndWatch func()
	stream              watch.Interface // the latest watch
}

func newCluster(t *testing.T, ctx context.Context) *cluster {
	return &cluster{T: t, ctx: ctx, client: fake.NewClientset(foo("example")), requestTakes: time.Minute, betweenListAndWatch: func() {}}
}

// inABubble runs a test in a bubble, and stops all its informers at the end.
func inABubble(t *testing.T, test func(c *cluster)) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour)
		defer cancel()
		test(newCluster(t, ctx))
	})
}

// wait lets an hour pass. By then all requests have been answered, and all events have arrived.
func (c *cluster) wait() {
	time.Sleep(time.Hour)
	synctest.Wait()
}

func (c *cluster) foos() typedv1alpha1.FooInterface {
	return c.client.SamplecontrollerV1alpha1().Foos("default")
}

func (c *cluster) create(name string) {
	if _, err := c.foos().Create(c.ctx, foo(name), metav1.CreateOptions{}); err != nil {
		c.Error(err)
	}
}

func (c *cluster) delete(name string) {
	if err := c.foos().Delete(c.ctx, name, metav1.DeleteOptions{}); err != nil {
		c.Error(err)
	}
}

// newInformer returns an informer like those that informer-gen writes, except that its watch
// requests take requestTakes.
func (c *cluster) newInformer() cache.SharedIndexInformer {
	listWatch := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := c.foos().List(ctx, options)
			c.betweenListAndWatch()
			c.betweenListAndWatch = func() {}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (stream watch.Interface, err error) {
			select {
			case <-time.After(c.requestTakes):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			defer func() {
				r := recover()
				if r == nil {
					return
				}
				stream, err = nil, errors.New("the watch panicked")
				if !c.Failed() { // it may panic more than once
					c.Errorf("a watch request panicked: %v", r)
				}
			}()
			c.stream, err = c.foos().Watch(ctx, options)
			return c.stream, err
		},
	}
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(listWatch, c.client), &samplecontrollerv1alpha1.Foo{}, 0, cache.Indexers{})
	// The default handler pauses after errors, using a time that all bubbles and the outside share.
	if err := informer.SetWatchErrorHandlerWithContext(func(context.Context, *cache.Reflector, error) {}); err != nil {
		c.Fatal(err)
	}
	return informer
}

// start calls Start, in a bubble.
func (c *cluster) start(informer cache.SharedIndexInformer) cache.SharedIndexInformer {
	c.Helper()
	if err := c.call(informer); err != nil {
		c.Fatalf("Start returned the error %q, want none: the watch takes a minute to start, and Start had ten hours", err)
	}
	return informer
}

// call calls Start in a bubble, and fails the test if Start doesn't return.
func (c *cluster) call(informer cache.SharedIndexInformer) error {
	c.Helper()
	returned := make(chan error, 1)
	go func() { returned <- Start(c.ctx, c.client, informer) }()
	select {
	case err := <-returned:
		return err
	case <-time.After(20 * time.Hour):
		// Start may be waiting for a watch reactor that is never called. Call all of them, or the
		// bubble would never end.
		watchFoos := clienttesting.NewWatchAction(samplecontrollerv1alpha1.Resource("foos").WithVersion("v1alpha1"), "default", metav1.ListOptions{})
		for _, reactor := range c.client.WatchReactionChain {
			_, _, _ = reactor.React(watchFoos)
		}
		c.Fatal("Start didn't return, although its context had ended long ago")
		return nil
	}
}

// checkCache compares the names of the Foos that an informer has in its cache.
func (c *cluster) checkCache(which string, informer cache.SharedIndexInformer, when string, want ...string) {
	c.Helper()
	got := informer.GetStore().ListKeys()
	for i := range got {
		_, got[i], _ = cache.SplitMetaNamespaceKey(got[i])
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		c.Errorf("%s has %v in its cache, want %v, %s", which, got, want, when)
	}
}

func foo(name string) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
}
