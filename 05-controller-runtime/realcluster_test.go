// A real API server for tests: a namespace for each test, and a controller in it. The server is
// envtest's, so no other controller is at work.

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
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

var fooKind = schema.FromAPIVersionAndKind(samplecontrollerv1alpha1.GroupVersion.String(), "Foo")

// somebody is the field manager of everything that the controller hasn't applied.
const somebody = client.FieldOwner("somebody")

// realCluster is a controller that acts on a namespace of a real server, and reads from it too. No
// manager is running yet.
type realCluster struct {
	*controller
	users      client.WithWatch // who write Foos, and change what isn't theirs
	config     *rest.Config     // of the manager to be
	kubeconfig string           // the same, as a file
	namespace  string
	traffic    traffic // the manager's
	sentinels  int
	t          *testing.T
}

// newBareCluster returns one of envtest's: there is an API server, and that is all.
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
		controller: &controller{Client: api, APIReader: api, Recorder: events.NewFakeRecorder(100)},
		users:      api,
		config:     config,
		kubeconfig: kubeconfig,
		namespace:  namespace,
		t:          t,
	}
}

// start runs the manager with our controller until the test ends. What it returns stops it, and
// returns what run would.
func (c *realCluster) start(changes ...func(*options)) (stop func() error) {
	c.t.Helper()
	o := optionsFor(c.namespace)
	for _, change := range changes {
		change(&o)
	}
	return runManager(c.t, c.newManager(o))
}

// runManager runs a manager as run does, until the test ends. What it returns stops it, and returns
// what run would.
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

// newManager returns the manager that run would start.
func (c *realCluster) newManager(o options) ctrl.Manager {
	c.t.Helper()
	config := rest.CopyConfig(c.config)
	config.Wrap(c.traffic.watch)
	must(c.t, addWatchIdleTimeout(config, o.watchIdleTimeout))
	mgr, err := newManager(config, o)
	must(c.t, err)
	must(c.t, waitForCRD(c.t.Context(), mgr.GetRESTMapper(), fooKind))
	must(c.t, addController(c.t.Context(), mgr))
	return mgr
}

// addController adds our controller to mgr, as run does.
func addController(ctx context.Context, mgr ctrl.Manager) error {
	c := &controller{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	return c.SetupWithManager(ctx, mgr)
}

// optionsFor returns what the flags say by default, but for one namespace, with one worker and a
// short time between renewals. Each test has a controller of the same name.
func optionsFor(namespace string) options {
	o := options{namespace: namespace, watchIdleTimeout: time.Minute}
	o.Metrics.BindAddress = "0"
	o.Cache.SyncPeriod = new(time.Duration(0))
	o.RetryPeriod = new(100 * time.Millisecond)
	o.Controller.MaxConcurrentReconciles = 1
	o.Controller.SkipNameValidation = new(true)
	return o
}

// create makes a Foo that is written in YAML.
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

// makeByHand creates a Deployment in the test's namespace, with any controller.
func (c *realCluster) makeByHand(deployment *appsv1.Deployment) {
	c.t.Helper()
	deployment.UID, deployment.Generation, deployment.Namespace = "", 0, c.namespace
	must(c.t, c.users.Create(c.t.Context(), deployment, somebody))
}

// becomesAvailable does what the Deployment controller does when all Pods are there and well. On
// envtest there is none.
func (c *realCluster) becomesAvailable(deployment string) {
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

// isReady says whether the Foo is, with so many replicas.
func (c *realCluster) isReady(replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		return err == nil && foo.Status.AvailableReplicas == replicas && foo.Status.ObservedGeneration == foo.Generation &&
			meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
	}
}

// says reports whether the Foo's condition Ready has that reason, for its latest spec.
func (c *realCluster) says(reason string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready")
		return err == nil && ready != nil && ready.Reason == reason && ready.ObservedGeneration == foo.Generation
	}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(what string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 20*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s", what)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
