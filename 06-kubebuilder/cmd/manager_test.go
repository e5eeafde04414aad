// The manager's options: what its cache contains, and which reads it refuses.

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

// The cache contains the types that the controller watches. A read of any other type fails at once,
// instead of starting an informer.
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
		eventually(t, "the object is in the cache", nil, func(ctx context.Context) bool { return mgr.GetClient().Get(ctx, key, object) == nil })
		// managedFields take a third of the memory, and nothing here reads them.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a cached %T has managedFields, want none", object)
		}
	}
	err = mgr.GetClient().Get(t.Context(), key, &corev1.Secret{})
	if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
		t.Errorf("get a Secret: got the error %v, want ErrResourceNotCached", err)
	}
}

// optionsFor returns the flags' default options, but for one namespace and without servers. The
// tests' controllers all have the same name, so their names aren't validated.
func optionsFor(namespace string) options {
	o := options{namespace: namespace}
	o.Metrics.BindAddress, o.HealthProbeBindAddress = "0", "0"
	o.Cache.SyncPeriod = new(time.Duration(0))
	o.Controller.MaxConcurrentReconciles = 1
	o.Controller.SkipNameValidation = new(true)
	return o
}

// runManager runs a manager until the test ends.
func runManager(t *testing.T, mgr ctrl.Manager) {
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		must(t, <-stopped)
	})
}
