// The manager's options: what its cache contains, and which reads it refuses.

package main

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/controller"
	"example.com/operators/07-tdset-operator/test/utils"
)

// The cache contains the types that the controller watches. A read of any other type fails at once,
// instead of starting an informer.
func TestTheCacheKeepsWhatIsWatched(t *testing.T) {
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	t.Setenv("ENABLE_WEBHOOKS", "false") // they need a certificate
	assets, err := utils.EnvtestAssets()
	must(t, err)
	testEnv := &envtest.Environment{BinaryAssetsDirectory: assets, CRDDirectoryPaths: []string{filepath.Join("..", "config", "crd", "bases")}, ErrorIfCRDPathMissing: true}
	config, err := testEnv.Start()
	must(t, err)
	t.Cleanup(func() { must(t, testEnv.Stop()) })
	o := optionsFor("default")
	mgr, err := newManager(config, o)
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() { stop(); must(t, <-stopped) })
	api, label := mgr.GetClient(), map[string]string{controller.TDSetLabel: "example"}
	tdset := &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example"},
		Spec: schedulev2.TDSetSpec{
			Container: schedulev2.Container{Image: "nginx", Port: 80}, Service: &schedulev2.Service{Port: 8080},
			Windows: []schedulev2.Window{}, DefaultReplicas: 1,
		},
	}
	must(t, api.Create(t.Context(), tdset))
	evicted := podOf("evicted", label)
	must(t, api.Create(t.Context(), podOf("another", nil)))
	must(t, api.Create(t.Context(), evicted))
	evicted.Status.Phase = corev1.PodFailed
	must(t, api.Status().Update(t.Context(), evicted))
	must(t, api.Create(t.Context(), podOf(tdset.Name, label)))

	key := client.ObjectKeyFromObject(tdset)
	for _, object := range []client.Object{&schedulev2.TDSet{}, &appsv1.Deployment{}, &corev1.Service{}, metadataOfPods()} {
		must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			return api.Get(ctx, key, object) == nil, nil
		}))
		// managedFields take a third of the memory, and nothing here reads them.
		if fields := object.GetManagedFields(); len(fields) > 0 {
			t.Errorf("a cached %T has managedFields, want none", object)
		}
	}
	// These Pods were created first, so their events have arrived by now.
	for name, what := range map[string]string{"another": "without a TDSet", "evicted": "that has finished"} {
		if err := api.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, metadataOfPods()); !apierrors.IsNotFound(err) {
			t.Errorf("get a Pod %s: got the error %v, want NotFound", what, err)
		}
	}
	for what, object := range map[string]client.Object{"a Secret": &corev1.Secret{}, "a whole Pod": &corev1.Pod{}} {
		err := api.Get(t.Context(), key, object)
		if notCached := (&cache.ErrResourceNotCached{}); !errors.As(err, &notCached) {
			t.Errorf("get %s: got the error %v, want ErrResourceNotCached", what, err)
		}
	}
}

func podOf(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "any", Image: "any"}}},
	}
}

// metadataOfPods returns an object to read the metadata of a Pod into.
func metadataOfPods() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}}
}

// optionsFor returns the flags' default options, but for one namespace and without servers.
func optionsFor(namespace string) options {
	o := options{namespace: namespace, drainTimeout: time.Minute}
	o.Metrics.BindAddress, o.HealthProbeBindAddress = "0", "0"
	o.Controller.MaxConcurrentReconciles = 1
	return o
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
