// A real API server for tests, as cluster_test.go is a fake one: a namespace of the test's own, and
// a controller on it. There are two kinds: envtest's, where nobody else works, and a whole cluster,
// which TEST_KUBECONFIG names.

package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/yaml"

	"example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// realCluster is a reconciler that acts on a namespace of a real server, and reads from it too. No
// manager is running yet.
type realCluster struct {
	*reconciler
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

// newRealCluster returns a whole one, where Deployments become available and garbage is collected.
func newRealCluster(t *testing.T) *realCluster {
	t.Helper()
	path := os.Getenv("TEST_KUBECONFIG")
	if path == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
	}
	config, err := loadConfig(path)
	must(t, err)
	closeConnections(t, config)
	c := realClusterOf(t, config, path, "")
	if err := c.users.List(t.Context(), &v1alpha1.FooList{}); meta.IsNoMatchError(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	} else if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "controller-runtime-"}}
	must(t, c.users.Create(t.Context(), namespace))
	t.Cleanup(func() { must(t, c.users.Delete(context.Background(), namespace)) })
	c.namespace = namespace.Name
	return c
}

func realClusterOf(t *testing.T, config *rest.Config, kubeconfig, namespace string) *realCluster {
	t.Helper()
	types, err := newScheme()
	must(t, err)
	api, err := client.NewWithWatch(config, client.Options{Scheme: types})
	must(t, err)
	return &realCluster{
		reconciler: &reconciler{Client: api, live: api, recorder: events.NewFakeRecorder(100)},
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
	o := options{namespace: c.namespace, watchIdleTimeout: time.Minute, workers: 2, metricsAddress: "0", probeAddress: "0"}
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
	go func() { ended <- start(ctx, mgr) }()
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
	must(c.t, waitForCRD(c.t.Context(), mgr.GetRESTMapper()))
	must(c.t, setUp(c.t.Context(), oneOfMany{mgr}, o))
	return mgr
}

// oneOfMany is a manager beside others in the same program. Else each controller would need a name
// of its own, for its metrics.
type oneOfMany struct{ ctrl.Manager }

func (m oneOfMany) GetControllerOptions() config.Controller {
	options := m.Manager.GetControllerOptions()
	options.SkipNameValidation = new(true)
	return options
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

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
