// A real API server for tests (cluster_test.go has a fake one), with a new namespace for each test.
// No other controller runs, so the tests set when a Deployment is available and when a Pod has
// stopped. Nothing is garbage collected.

package controller

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// realCluster is a reconciler for one namespace of a real API server. Before start, it has no cache
// and no manager.
type realCluster struct {
	*TDSetReconciler
	api       client.Client
	config    *rest.Config // for the manager
	clock     *movableClock
	namespace string
	t         *testing.T
}

// newRealCluster returns a cluster at noon.
func newRealCluster(t *testing.T) *realCluster {
	t.Helper()
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	must(t, startTestEnv())
	clock := &movableClock{}
	clock.set(noon)
	config := rest.CopyConfig(cfg)
	config.QPS = -1
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, k8sClient.Create(t.Context(), namespace))
	return &realCluster{
		TDSetReconciler: &TDSetReconciler{
			Client: k8sClient, APIReader: k8sClient, Recorder: events.NewFakeRecorder(100), Clock: clock, DrainTimeout: time.Hour,
		},
		api: k8sClient, config: config, clock: clock, namespace: namespace.Name, t: t,
	}
}

// movableClock runs like the computer's clock, from a time that a test has set.
type movableClock struct{ ahead atomic.Int64 }

func (c *movableClock) set(instant time.Time) { c.ahead.Store(int64(instant.Sub(time.Now().Round(0)))) }

func (c *movableClock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.ahead.Load()))
}

func (c *movableClock) Since(instant time.Time) time.Duration { return c.Now().Sub(instant) }

// start runs a manager with our controller until the test ends. The manager's other options are
// tested in cmd.
func (c *realCluster) start() {
	c.t.Helper()
	mgr, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme:     scheme.Scheme,
		Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}, ReaderFailOnMissingInformer: true},
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{MaxConcurrentReconciles: 2},
	})
	must(c.t, err)
	c.Client, c.APIReader, c.Recorder = mgr.GetClient(), mgr.GetAPIReader(), mgr.GetEventRecorder("tdset-controller")
	must(c.t, c.SetupWithManager(mgr))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	c.t.Cleanup(func() {
		stop()
		must(c.t, <-ended)
	})
}

// make creates objects in the test's namespace, without what only an API server sets. The
// arguments stay as they are.
func (c *realCluster) make(objects ...client.Object) {
	c.t.Helper()
	for _, object := range objects {
		made := object.DeepCopyObject().(client.Object)
		made.SetUID("")
		made.SetNamespace(c.namespace)
		if service, ok := made.(*corev1.Service); ok {
			service.Spec.ClusterIP = "" // the API server chooses one
		}
		must(c.t, c.api.Create(c.t.Context(), made, somebody))
	}
}

// patch changes an object, as kubectl patch does.
func (c *realCluster) patch(object client.Object, patch string) {
	c.t.Helper()
	object.SetNamespace(c.namespace)
	object.SetName("web")
	must(c.t, c.api.Patch(c.t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)), somebody))
}

// becomesAvailable acts as the Deployment controller: all Pods are available.
func (c *realCluster) becomesAvailable() {
	c.t.Helper()
	deployment := c.deployment()
	withPods(replicasOf(deployment))(deployment)
	must(c.t, c.api.Status().Update(c.t.Context(), deployment))
}

// tdset returns the TDSet, or an empty one.
func (c *realCluster) tdset() *schedulev2.TDSet { return found(c, &schedulev2.TDSet{}) }

func (c *realCluster) deployment() *appsv1.Deployment { return found(c, &appsv1.Deployment{}) }

func (c *realCluster) service() *corev1.Service { return found(c, &corev1.Service{}) }

// found reads the object with the TDSet's name into an empty object.
func found[T client.Object](c *realCluster, into T) T {
	c.t.Helper()
	must(c.t, client.IgnoreNotFound(c.api.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "web"}, into)))
	return into
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(what string, holds func() bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return holds(), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s\n%+v\n%+v", what, c.tdset(), c.deployment())
	}
}
