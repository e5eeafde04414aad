// A real API server for tests, as cluster_test.go is a fake one: a namespace of the test's own, and a controller on it.

package controller

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
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
	"sigs.k8s.io/yaml"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

// realCluster is a reconciler that acts on a namespace of a real server, and reads from it too. No manager is running yet.
type realCluster struct {
	*FooReconciler
	users     client.WithWatch // who write Foos, and change what isn't theirs
	config    *rest.Config     // of the manager to be
	namespace string
	sentinels int
	t         *testing.T
}

// newBareCluster returns one on envtest: there is an API server, and that is all.
func newBareCluster(t *testing.T) *realCluster {
	t.Helper()
	config, api, namespace := newAPIServer(t)
	return &realCluster{
		FooReconciler: &FooReconciler{Client: api, Live: api, Recorder: events.NewFakeRecorder(100)},
		users:         api,
		config:        config,
		namespace:     namespace,
		t:             t,
	}
}

// start runs a manager with our controller until the test ends.
func (c *realCluster) start(workers int) {
	c.t.Helper()
	mgr := c.newManager()
	reconciler := &FooReconciler{Client: mgr.GetClient(), Live: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	must(c.t, reconciler.SetupWithManager(c.t.Context(), mgr, workers))
	runManager(c.t, mgr)
}

// newManager returns a manager without a controller yet. What cmd sets besides is tested there.
func (c *realCluster) newManager(changes ...func(*cache.Options)) ctrl.Manager {
	c.t.Helper()
	options := cache.Options{DefaultNamespaces: map[string]cache.Config{c.namespace: {}}, ReaderFailOnMissingInformer: true}
	for _, change := range changes {
		change(&options)
	}
	mgr, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme:     scheme.Scheme,
		Cache:      options,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // several managers, in one program
	})
	must(c.t, err)
	return mgr
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

// create makes a Foo that is written in YAML.
func (c *realCluster) create(text string) *v1alpha1.Foo {
	c.t.Helper()
	var foo v1alpha1.Foo
	must(c.t, yaml.UnmarshalStrict([]byte(text), &foo))
	foo.Namespace = c.namespace
	must(c.t, c.users.Create(c.t.Context(), &foo))
	return &foo
}

// change changes the spec of the Foo named example, as kubectl patch does.
func (c *realCluster) change(spec string) {
	c.t.Helper()
	c.patch(&v1alpha1.Foo{}, "example", `{"spec":`+spec+`}`)
}

// changeByHand changes a Deployment.
func (c *realCluster) changeByHand(deployment, patch string) {
	c.t.Helper()
	c.patch(&appsv1.Deployment{}, deployment, patch)
}

func (c *realCluster) patch(object client.Object, name, patch string) {
	c.t.Helper()
	object.SetNamespace(c.namespace)
	object.SetName(name)
	must(c.t, c.users.Patch(c.t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)), somebody))
}

// makeByHand makes a Deployment in the test's namespace, whoever controls it.
func (c *realCluster) makeByHand(deployment *appsv1.Deployment) {
	c.t.Helper()
	deployment.UID, deployment.Generation, deployment.Namespace = "", 0, c.namespace
	must(c.t, c.users.Create(c.t.Context(), deployment, somebody))
}

// becomesAvailable does what the Deployment controller does when all Pods are there and well. On envtest there is none.
func (c *realCluster) becomesAvailable(deployment string) {
	c.t.Helper()
	web, err := c.deployment(c.t.Context(), deployment)
	must(c.t, err)
	available(*web.Spec.Replicas)(web)
	web.Status.ReadyReplicas = web.Status.Replicas
	must(c.t, c.users.Status().Update(c.t.Context(), web))
}

// foo returns the Foo named example.
func (c *realCluster) foo(ctx context.Context) (*v1alpha1.Foo, error) {
	foo := &v1alpha1.Foo{}
	return foo, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "example"}, foo)
}

func (c *realCluster) deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, deployment)
}

// isReady says whether the Foo is, with so many replicas.
func (c *realCluster) isReady(replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		return err == nil && foo.Status.AvailableReplicas == replicas && foo.Status.ObservedGeneration == foo.Generation &&
			meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
	}
}

// says tells whether the Foo's condition Ready has that reason, for its latest spec.
func (c *realCluster) says(reason string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready")
		return err == nil && ready != nil && ready.Reason == reason && ready.ObservedGeneration == foo.Generation
	}
}

// eventually waits until something holds, and fails if that takes too long.
func (c *realCluster) eventually(what string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("not so after a minute: %s", what)
	}
}
