// You create an object and then read it with the same client, so you expect to find it. Often you
// don't: the write goes to the API server, but the read comes from the cache, which learns of the
// write from its watch, usually a few milliseconds later. A reconciler that concludes "there is
// none, so create one" creates two.
//
// Derive the object's name from its owner, so that the API server refuses the second one. Or ask
// the server, or let reads wait for your own writes.

package pitfalls

import (
	"context"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/operators/05-controller-runtime/test/testenv"
)

// createUnlessFound is wrong if r is a cache: every call that comes too early creates another one.
func createUnlessFound(ctx context.Context, r client.Reader, w client.Writer, ns string) error {
	var found corev1.ConfigMapList
	if err := r.List(ctx, &found, client.InNamespace(ns)); err != nil || len(found.Items) > 0 {
		return err
	}
	object := metav1.ObjectMeta{Namespace: ns, GenerateName: "random-"}
	return w.Create(ctx, &corev1.ConfigMap{ObjectMeta: object})
}

// createByName is right even if the cache is behind, because there can be only one of that name.
func createByName(ctx context.Context, _ client.Reader, w client.Writer, ns string) error {
	object := metav1.ObjectMeta{Namespace: ns, Name: "config-of-a"}
	return client.IgnoreAlreadyExists(w.Create(ctx, &corev1.ConfigMap{ObjectMeta: object}))
}

func TestReadAfterWrite(t *testing.T) {
	type counts struct{ inCache, onServer int }
	for _, test := range []struct {
		sentence             string
		create               func(context.Context, client.Reader, client.Writer, string) error
		askServer, readsWait bool
		want                 counts
	}{
		{"wrong: believe the cache", createUnlessFound, false, false, counts{0, 2}},
		{"right: name it after its owner", createByName, false, false, counts{0, 1}},
		{"right: ask the server", createUnlessFound, true, false, counts{0, 1}},
		{"right: reads wait for your own writes", createUnlessFound, false, true, counts{1, 1}},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			c := testenv.New(t)
			deliver := make(chan struct{}) // until it is closed, no event gets into the cache
			release := sync.OnceFunc(func() { close(deliver) })
			mgr := c.NewManager(t, func(options *ctrl.Options) {
				options.Client.Cache = &client.CacheOptions{
					EnableReadYourWritesConsistency: &test.readsWait,
				}
				options.Cache.DefaultTransform = func(object any) (any, error) {
					<-deliver
					return object, nil
				}
			})
			start(t, mgr)
			t.Cleanup(release)
			var cached, stored corev1.ConfigMapList
			must(t, mgr.GetClient().List(t.Context(), &cached)) // starts the informer

			reader := client.Reader(mgr.GetClient())
			if test.askServer {
				reader = mgr.GetAPIReader()
			}
			must(t, test.create(t.Context(), reader, mgr.GetClient(), c.Namespace))
			if test.readsWait {
				time.AfterFunc(100*time.Millisecond, release)
			}
			must(t, test.create(t.Context(), reader, mgr.GetClient(), c.Namespace))

			must(t, mgr.GetClient().List(t.Context(), &cached))
			must(t, c.List(t.Context(), &stored, client.InNamespace(c.Namespace)))
			got := counts{inCache: len(cached.Items), onServer: len(stored.Items)}
			t.Logf("after two calls: %d in the cache, %d on the server", got.inCache, got.onServer)
			if got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}
