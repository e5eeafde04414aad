// The manager's options: what its cache keeps and refuses.

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// What is read is watched: of any other type the cache would have to begin to, and says instead
// that it doesn't, at once.
func TestTheCacheKeepsWhatIsWatched(t *testing.T) {
	config, api, namespace := newAPIServer(t)
	o := optionsFor(namespace)
	mgr, err := newManager(config, o)
	must(t, err)
	must(t, setUp(t.Context(), mgr, o))
	runManager(t, mgr)
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: "example"}}
	must(t, api.Create(t.Context(), foo))

	key := client.ObjectKeyFromObject(foo)
	for _, object := range []client.Object{&samplecontrollerv1alpha1.Foo{}, &appsv1.Deployment{}} {
		eventually(t, "the cache has it", nil, func(ctx context.Context) bool { return mgr.GetClient().Get(ctx, key, object) == nil })
		// Who owns which field takes a third of the memory, and nobody here asks for it.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a %T is kept with its managed fields", object)
		}
	}
	err = mgr.GetClient().Get(t.Context(), key, &corev1.Secret{})
	if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
		t.Errorf("a Secret: got the error %v, want that it isn't cached", err)
	}
}

// optionsFor returns what the flags say by default, but for one namespace and without servers. Each
// test has a controller of the same name.
func optionsFor(namespace string) options {
	o := options{namespace: namespace, watchIdleTimeout: time.Minute}
	o.Metrics.BindAddress, o.HealthProbeBindAddress = "0", "0"
	o.Cache.SyncPeriod = new(time.Duration(0))
	o.Controller.MaxConcurrentReconciles = 1
	o.Controller.SkipNameValidation = new(true)
	return o
}

// runManager runs a manager until the test ends.
func runManager(t *testing.T, mgr ctrl.Manager) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-ended)
	})
}
