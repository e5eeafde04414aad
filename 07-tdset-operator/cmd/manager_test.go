// The manager's options: what its cache contains, and which reads it refuses.

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/controller"
)

var tdsetKind = schedulev2.GroupVersion.WithKind("TDSet")

// The cache contains the types that the controller watches. A read of any other type fails at once,
// instead of starting an informer.
func TestTheCacheKeepsWhatIsWatched(t *testing.T) {
	config, api, namespace := newAPIServer(t)
	o := optionsFor(namespace)
	mgr, err := newManager(config, o)
	must(t, err)
	must(t, setUp(mgr, o))
	runManager(t, mgr)
	tdset := tdsetOf(namespace)
	must(t, api.Create(t.Context(), tdset))
	label := map[string]string{controller.TDSetLabel: tdset.Name}
	evicted := podOf(namespace, "evicted", label)
	must(t, api.Create(t.Context(), podOf(namespace, "another", nil)))
	must(t, api.Create(t.Context(), evicted))
	evicted.Status.Phase = corev1.PodFailed
	must(t, api.Status().Update(t.Context(), evicted))
	must(t, api.Create(t.Context(), podOf(namespace, tdset.Name, label)))

	key := client.ObjectKeyFromObject(tdset)
	for _, object := range []client.Object{&schedulev2.TDSet{}, &appsv1.Deployment{}, &corev1.Service{}, metadataOfPods()} {
		eventually(t, "the object is in the cache", nil, func(ctx context.Context) bool { return mgr.GetClient().Get(ctx, key, object) == nil })
		// managedFields take a third of the memory, and nothing here reads them.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a cached %T has managedFields, want none", object)
		}
	}
	// These Pods were created first, so their events have arrived by now.
	for name, what := range map[string]string{"another": "without a TDSet", "evicted": "that has finished"} {
		if err := mgr.GetClient().Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, metadataOfPods()); !apierrors.IsNotFound(err) {
			t.Errorf("get a Pod %s: got the error %v, want NotFound", what, err)
		}
	}
	for what, object := range map[string]client.Object{"a Secret": &corev1.Secret{}, "a whole Pod": &corev1.Pod{}} {
		err := mgr.GetClient().Get(t.Context(), key, object)
		if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
			t.Errorf("get %s: got the error %v, want ErrResourceNotCached", what, err)
		}
	}
}

// tdsetOf returns a TDSet that uses every field, but needs no Pods, because nothing creates them
// here.
func tdsetOf(namespace string) *schedulev2.TDSet {
	return &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "example"},
		Spec: schedulev2.TDSetSpec{
			Container:       schedulev2.Container{Image: "nginx", Port: 80},
			Service:         &schedulev2.Service{Port: 8080},
			Windows:         []schedulev2.Window{{Name: "always", Start: "00:00", End: "24:00", Replicas: 2}},
			DefaultReplicas: 1,
		},
	}
}

func podOf(namespace, name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "any", Image: "any"}}},
	}
}

// metadataOfPods returns an object to read the metadata of a Pod into.
func metadataOfPods() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
}

// optionsFor returns the flags' default options, but for one namespace and without servers. The
// tests' controllers all have the same name, so their names aren't validated.
func optionsFor(namespace string) options {
	o := options{namespace: namespace, drainTimeout: time.Minute}
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
