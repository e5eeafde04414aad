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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
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
	mgr, err := newManager(t.Context(), config, o)
	must(t, err)
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- mgr.Start(ctx) }()
	t.Cleanup(func() { stop(); must(t, <-stopped) })
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example"}, Spec: samplecontrollerv1alpha1.FooSpec{DeploymentName: "example"}}
	must(t, mgr.GetClient().Create(t.Context(), foo))

	key := client.ObjectKeyFromObject(foo)
	for _, object := range []client.Object{&samplecontrollerv1alpha1.Foo{}, &appsv1.Deployment{}} {
		must(t, wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
			return mgr.GetClient().Get(ctx, key, object) == nil, nil
		}))
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

// optionsFor returns the flags' default options, but for one namespace and without servers.
func optionsFor(namespace string) options {
	o := options{namespace: namespace}
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
