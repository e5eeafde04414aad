// A streaming list (WatchList) is how an informer of client-go 0.35 and later begins: with one
// watch and no list. The watch starts with an ADDED event for each existing object, and a bookmark with
// the annotation k8s.io/initial-events-end says that all of them have been sent. Until that
// bookmark arrives, the informer isn't synced. If it never arrives, the informer never syncs, and
// there is no error.

package main

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

func TestStreamingList(t *testing.T) {
	old := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "old", ResourceVersion: "7"}}
	end := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "9",
		Annotations:     map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	configMaps := fake.NewClientset(old).CoreV1().ConfigMaps("default")
	for _, test := range []struct {
		sentence     string
		watch        cache.WatchFuncWithContext
		wrapped      bool // by ToListWatcherWithWatchListSemantics
		wantRequests []string
		wantSynced   bool
	}{
		{"the bookmark arrives", stream(watch.Event{Type: watch.Added, Object: old}, watch.Event{Type: watch.Bookmark, Object: end}),
			false, []string{"watch"}, true},
		{"the bookmark never arrives", stream(watch.Event{Type: watch.Added, Object: old}),
			false, []string{"watch"}, false},
		{"wrong: a bare ListWatch on a fake", configMaps.Watch,
			false, []string{"watch"}, false},
		{"right: tell the informer about the fake", configMaps.Watch,
			true, []string{"list", "watch"}, true},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			featurestesting.SetFeatureDuringTest(t, features.WatchListClient, true) // main_test.go turns it off
			synctest.Test(t, func(t *testing.T) {
				var requests []string
				var source cache.ListerWatcher = &cache.ListWatch{
					ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
						requests = append(requests, "list")
						return configMaps.List(ctx, options)
					},
					WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
						requests = append(requests, "watch")
						return test.watch(ctx, options)
					},
				}
				if test.wrapped {
					source = cache.ToListWatcherWithWatchListSemantics(source.(*cache.ListWatch), &fake.Clientset{})
				}
				informer := cache.NewSharedInformer(source, &corev1.ConfigMap{}, 0)
				go informer.RunWithContext(t.Context())
				time.Sleep(25 * time.Second) // in synctest's simulated time, so it takes none
				synctest.Wait()
				t.Logf("25 seconds later: requests %v, synced %t", requests, informer.HasSynced())
				if !slices.Equal(requests, test.wantRequests) || informer.HasSynced() != test.wantSynced {
					t.Errorf("want requests %v, synced %t", test.wantRequests, test.wantSynced)
				}
			})
		})
	}
}

// stream returns a watch that sends events and then nothing more.
func stream(events ...watch.Event) cache.WatchFuncWithContext {
	return func(context.Context, metav1.ListOptions) (watch.Interface, error) {
		fakeWatch := watch.NewRaceFreeFake()
		for _, event := range events {
			fakeWatch.Action(event.Type, event.Object)
		}
		return fakeWatch, nil
	}
}
