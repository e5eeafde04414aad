// A real API server for tests: each test has a namespace, and a controller that acts on it. The
// server is envtest's, so no other controller runs.

package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

var fooKind = schema.FromAPIVersionAndKind(samplecontrollerv1alpha1.GroupVersion.String(), "Foo")

// somebody is the field manager of all writes that the controller doesn't make.
const somebody = client.FieldOwner("somebody")

// realCluster is a namespace of a real server, and a controller that acts on it and reads from the
// server. A new one has no manager running.
type realCluster struct {
	*FooReconciler
	users      client.WithWatch // writes as the users do
	config     *rest.Config     // for the manager
	kubeconfig string           // the path of a file with the same config
	namespace  string
	traffic    traffic // the manager's requests
	sentinels  int
	t          *testing.T
}

// newBareCluster returns a cluster that consists only of an API server and etcd.
func newBareCluster(t *testing.T) *realCluster {
	t.Helper()
	config, _, namespace := newAPIServer(t)
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, startedAPIServer.KubeConfig, 0o600))
	return realClusterOf(t, config, path, namespace)
}

func realClusterOf(t *testing.T, config *rest.Config, kubeconfig, namespace string) *realCluster {
	t.Helper()
	api, err := client.NewWithWatch(config, client.Options{})
	must(t, err)
	return &realCluster{
		FooReconciler: &FooReconciler{Client: api, APIReader: api, Recorder: events.NewFakeRecorder(100)},
		users:         api,
		config:        config,
		kubeconfig:    kubeconfig,
		namespace:     namespace,
		t:             t,
	}
}

// start runs the manager with our controller until the test ends. The function that it returns
// stops the manager earlier, and returns the error of Start.
func (c *realCluster) start(changes ...func(*ctrl.Options)) (stop func() error) {
	c.t.Helper()
	o := optionsFor(c.namespace)
	for _, change := range changes {
		change(&o)
	}
	return runManager(c.t, c.newManager(o))
}

// runManager runs a manager until the test ends. The function that it returns stops the manager
// earlier, and returns the error of Start.
func runManager(t *testing.T, mgr ctrl.Manager) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- mgr.Start(ctx) }()
	stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	return stop
}

// newManager returns the manager that run would start, but counts its requests in c.traffic.
func (c *realCluster) newManager(o ctrl.Options) ctrl.Manager {
	c.t.Helper()
	config := rest.CopyConfig(c.config)
	config.Wrap(c.traffic.watch)
	mgr, err := ctrl.NewManager(config, o)
	must(c.t, err)
	must(c.t, addController(c.t.Context(), mgr))
	return mgr
}

// addController adds our controller to mgr, as run does.
func addController(ctx context.Context, mgr ctrl.Manager) error {
	foos := &FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	return foos.SetupWithManager(ctx, mgr)
}

// optionsFor returns the default options, but for one namespace and with one worker. The tests'
// controllers all have the same name, so their names aren't validated.
func optionsFor(namespace string) ctrl.Options {
	o := ctrl.Options{LeaderElectionID: "foo-controller"}
	o.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	o.Metrics.BindAddress = "0"
	o.Cache.SyncPeriod = new(time.Duration(0))
	o.Controller.MaxConcurrentReconciles = 1
	o.Controller.SkipNameValidation = new(true)
	return o
}

// create creates a Foo from YAML.
func (c *realCluster) create(text string) *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	var foo samplecontrollerv1alpha1.Foo
	must(c.t, yaml.UnmarshalStrict([]byte(text), &foo))
	foo.Namespace = c.namespace
	must(c.t, c.users.Create(c.t.Context(), &foo))
	return &foo
}

// change changes the spec of the Foo named example, as kubectl patch does.
func (c *realCluster) change(spec string) {
	c.t.Helper()
	c.patch(&samplecontrollerv1alpha1.Foo{}, "example", `{"spec":`+spec+`}`)
}

// changeByHand patches a Deployment, as a user might with kubectl.
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

// createByHand creates a Deployment in the test's namespace, with any controller.
func (c *realCluster) createByHand(deployment *appsv1.Deployment) {
	c.t.Helper()
	deployment.UID, deployment.Generation, deployment.Namespace = "", 0, c.namespace
	must(c.t, c.users.Create(c.t.Context(), deployment, somebody))
}

// makeAvailable writes the status that the Deployment controller writes when all Pods are
// available. envtest has no Deployment controller.
func (c *realCluster) makeAvailable(deployment string) {
	c.t.Helper()
	web, err := c.deployment(c.t.Context(), deployment)
	must(c.t, err)
	available(*web.Spec.Replicas)(web)
	web.Status.ReadyReplicas = web.Status.Replicas
	must(c.t, c.users.Status().Update(c.t.Context(), web))
}

// foo returns the Foo named example.
func (c *realCluster) foo(ctx context.Context) (*samplecontrollerv1alpha1.Foo, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	return foo, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "example"}, foo)
}

func (c *realCluster) deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: name}, deployment)
}

// isReady reports whether the Foo is ready, with that many replicas.
func (c *realCluster) isReady(replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		return err == nil && foo.Status.AvailableReplicas == replicas && foo.Status.ObservedGeneration == foo.Generation &&
			meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
	}
}

// hasReason reports whether the Foo's condition Ready has that reason, for its latest spec.
func (c *realCluster) hasReason(reason string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready")
		return err == nil && ready != nil && ready.Reason == reason && ready.ObservedGeneration == foo.Generation
	}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(condition string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s", condition)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errorOf returns the error of a function that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }
