// A real API server for tests (cluster_test.go has a fake one), with a new namespace for each test,
// and a controller.

package controller

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
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

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const example = `
apiVersion: schedule.rs/v2
kind: TDSet
metadata: {name: web}
spec:
  container: {image: nginx:1.0, port: 8080}
  windows:
  - {name: 9-17, start: "09:00", end: "17:00", replicas: 5}
  - {name: 17-19, start: "17:00", end: "19:00", replicas: 3}
  defaultReplicas: 2
`

// realCluster is a reconciler for one namespace of a real API server. Before start, it has no cache
// and no manager.
type realCluster struct {
	*TDSetReconciler
	users     client.WithWatch // for users and other controllers
	config    *rest.Config     // for the manager
	clock     *movableClock
	namespace string
	sentinels int
	t         *testing.T
}

// newBareCluster returns a cluster on envtest, which is just an API server, at noon.
func newBareCluster(t *testing.T) *realCluster {
	t.Helper()
	config, api, namespace := newAPIServer(t)
	clock := &movableClock{}
	clock.set(noon)
	return &realCluster{
		TDSetReconciler: &TDSetReconciler{
			Client: api, APIReader: api, Recorder: events.NewFakeRecorder(100), Clock: clock, DrainTimeout: time.Hour,
		},
		users:     api,
		config:    config,
		clock:     clock,
		namespace: namespace,
		t:         t,
	}
}

// movableClock runs like the computer's clock, from a time that a test has set.
type movableClock struct{ ahead atomic.Int64 }

func (c *movableClock) set(instant time.Time) { c.ahead.Store(int64(instant.Sub(time.Now().Round(0)))) }

func (c *movableClock) Now() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.ahead.Load()))
}

func (c *movableClock) Since(instant time.Time) time.Duration { return c.Now().Sub(instant) }

// setClockJustBefore sets the clock to a moment before an instant, and causes a reconcile. The
// instant itself is then up to the controller's timer.
func (c *realCluster) setClockJustBefore(instant time.Time) {
	c.t.Helper()
	c.clock.set(instant.Add(-50 * time.Millisecond))
	c.patch(&schedulev2.TDSet{}, "web", `{"metadata":{"annotations":{"look":"`+instant.String()+`"}}}`)
}

// start runs a manager with our controller until the test ends.
func (c *realCluster) start(workers int) {
	c.t.Helper()
	mgr := c.newManager(workers)
	reconciler := &TDSetReconciler{
		Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("tdset-controller"),
		Clock: c.clock, DrainTimeout: c.DrainTimeout,
	}
	must(c.t, reconciler.SetupWithManager(mgr))
	runManager(c.t, mgr)
}

// newManager returns a manager without a controller. Its other options are tested in cmd.
func (c *realCluster) newManager(workers int, changes ...func(*cache.Options)) ctrl.Manager {
	c.t.Helper()
	options := cache.Options{
		DefaultNamespaces:           map[string]cache.Config{c.namespace: {}},
		ReaderFailOnMissingInformer: true,
		ByObject:                    map[client.Object]cache.ByObject{&corev1.Pod{}: {Field: fields.OneTermNotEqualSelector("status.phase", "Failed")}},
	}
	for _, change := range changes {
		change(&options)
	}
	mgr, err := ctrl.NewManager(c.config, ctrl.Options{
		Scheme:     scheme.Scheme,
		Cache:      options,
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{MaxConcurrentReconciles: workers, SkipNameValidation: new(true)}, // the tests' controllers have the same name
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

// createTDSet creates a TDSet from YAML.
func (c *realCluster) createTDSet(text string) *schedulev2.TDSet {
	c.t.Helper()
	var tdset schedulev2.TDSet
	must(c.t, yaml.UnmarshalStrict([]byte(text), &tdset))
	tdset.Namespace = c.namespace
	must(c.t, c.users.Create(c.t.Context(), &tdset))
	return &tdset
}

// change changes the spec of the TDSet, as kubectl patch does.
func (c *realCluster) change(spec string) {
	c.t.Helper()
	c.patch(&schedulev2.TDSet{}, "web", `{"spec":`+spec+`}`)
}

func (c *realCluster) patch(object client.Object, name, patch string) {
	c.t.Helper()
	object.SetNamespace(c.namespace)
	object.SetName(name)
	must(c.t, c.users.Patch(c.t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)), somebody))
}

// makeByHand creates an object in the test's namespace, without a controller.
func (c *realCluster) makeByHand(object client.Object) {
	c.t.Helper()
	object.SetUID("")
	object.SetGeneration(0)
	object.SetNamespace(c.namespace)
	must(c.t, c.users.Create(c.t.Context(), object, somebody))
}

// becomesAvailable acts as the Deployment controller, which envtest doesn't have: all Pods are
// available.
func (c *realCluster) becomesAvailable() {
	c.t.Helper()
	deployment := c.deployment(c.t.Context())
	withPods(replicasOf(deployment))(deployment)
	must(c.t, c.users.Status().Update(c.t.Context(), deployment))
}

// tdset returns the TDSet, or an empty one.
func (c *realCluster) tdset(ctx context.Context) *schedulev2.TDSet {
	return found(ctx, c, &schedulev2.TDSet{})
}

func (c *realCluster) deployment(ctx context.Context) *appsv1.Deployment {
	return found(ctx, c, &appsv1.Deployment{})
}

func (c *realCluster) service(ctx context.Context) *corev1.Service {
	return found(ctx, c, &corev1.Service{})
}

// found reads the object with the TDSet's name into an empty object.
func found[T client.Object](ctx context.Context, c *realCluster, into T) T {
	c.t.Helper()
	if err := c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "web"}, into); !apierrors.IsNotFound(err) {
		must(c.t, err)
	}
	return into
}

// status reports whether the TDSet has this status for its latest spec, such as
// "17-19: RollingOut, AsExpected": the window, and the reasons of Progressing and Degraded.
func (c *realCluster) status(what string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		tdset := c.tdset(ctx)
		return statusOf(tdset) == what && tdset.Status.ObservedGeneration == tdset.Generation
	}
}

func statusOf(tdset *schedulev2.TDSet) string {
	progressing := meta.FindStatusCondition(tdset.Status.Conditions, conditionProgressing)
	degraded := meta.FindStatusCondition(tdset.Status.Conditions, conditionDegraded)
	if progressing == nil || degraded == nil {
		return ""
	}
	return fmt.Sprintf("%s: %s, %s", tdset.Status.ActiveWindow, progressing.Reason, degraded.Reason)
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
