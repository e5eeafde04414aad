//go:build check || solution

// These tests check what Reconcile promises. They follow a TDSet for three minutes, in a bubble of
// testing/synctest, where time passes at once. The API server is the fake client, and the tests
// refuse what a real one would refuse. They also play the controllers of Deployments and
// ReplicaSets, and the queue: Reconcile is called after an event, after a RequeueAfter, and a
// second after an error.
//
// As given, the steps are in the wrong order, among other mistakes. `workshop test` checks these
// failures:
//
// fails: TestDeletion/the Pods take 20 seconds to terminate
// says: after 5s Reconcile removed the finalizer, but 2 Pods were left
//
// fails: TestDeletion/the Pods terminate one after the other
// says: after 5s Reconcile scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestDeletion/the Pods never terminate
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/nobody deletes the Pods
// says: the TDSet is kept by schedule.rs/drain, with a Deployment of 0 replicas; want gone after 1m0s
//
// fails: TestDeletion/the program restarts during the drain
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/the program is down until after the timeout
// says: the TDSet is gone after 2m5s; want gone after 2m0s
//
// fails: TestDeletion/the Deployment can't be scaled at first
// says: the TDSet is gone after 15s; want gone after 30s
//
// fails: TestDeletion/the Deployment can never be scaled
// says: the TDSet is kept by schedule.rs/drain, with a Deployment of 2 replicas; want gone after 1m0s
//
// fails: TestDeletion/the Pods can never be listed
// says: Reconcile returns an error each time, so it is retried forever: list the Pods: Internal error occurred: the disk is full
//
// fails: TestDeletion/the Deployment can't be scaled for ten seconds, and no event follows
// says: the TDSet is gone after 15s; want gone after 30s
//
// fails: TestDeletion/the finalizer can't be removed at first
// says: the TDSet is gone after 5s; want gone after 30s
//
// fails: TestDeletion/the finalizer can't be removed for five seconds, and no event follows
// says: after 5s Reconcile scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestTheDeploymentIsGone/before the TDSet is deleted
// says: after 0s Reconcile created a Deployment for a TDSet that was being deleted
//
// fails: TestTheDeploymentIsGone/while the Pods terminate
// says: after 5s Reconcile created a Deployment for a TDSet that was being deleted
//
// fails: TestTheDeploymentIsGone/and its Pods, too
// says: after 0s Reconcile created a Deployment for a TDSet that was being deleted
//
// fails: TestSomebodyElsesFinalizer/remains after ours
// says: after 5s Reconcile removed example.com/backup, which is somebody else's finalizer
//
// fails: TestSomebodyElsesFinalizer/is removed before ours
// says: after 5s Reconcile removed example.com/backup, which is somebody else's finalizer
//
// fails: TestSomebodyElsesFinalizer/is removed after ours
// says: after 5s Reconcile removed example.com/backup, which is somebody else's finalizer
//
// fails: TestSomebodyElsesFinalizer/is the only one
// says: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted

package finalizer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// scenario is a sequence of events, and the expected state of the TDSet after them.
type scenario struct {
	before []func(*cluster) // steps before the first event; the TDSet exists
	happen []event          // ordered by time
	want   string
	why    string
}

// event is something that happens and enqueues the TDSet's key.
type event struct {
	at   time.Duration
	does func(*cluster)
}

const drainTimeout = time.Minute

func TestCreation(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"a new TDSet": {
			happen: []event{{0, nothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"the Deployment is deleted": {
			happen: []event{{0, nothing}, {time.Second, deleteDeployment}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"the server refuses the finalizer at first": {
			before: []func(*cluster){refuseTDSet},
			happen: []event{{0, nothing}, {10 * time.Second, refuseNothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"the server refuses the finalizer for ten seconds, and no event follows": {
			before: []func(*cluster){refuseTDSet, refuseUntil(10 * time.Second)},
			happen: []event{{0, nothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
			why:    "without an error there is no retry, so the TDSet never gets its Deployment",
		},
		"somebody else adds a finalizer at the same time": {
			before: []func(*cluster){beforeNextWrite(addBackup)},
			happen: []event{{0, nothing}},
			want:   "kept by example.com/backup and schedule.rs/drain, with a Deployment of 2 replicas",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestDeletion(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"the Pods take 20 seconds to terminate": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "a Pod that is being deleted is still running",
		},
		"the Pods terminate one after the other": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, endPod}, {30 * time.Second, endPod}},
			want:   "gone after 30s",
		},
		"the Pods never terminate": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "if a node is lost, its Pods are never reported as terminated, and the timeout causes no event",
		},
		"nobody deletes the Pods": {
			before: []func(*cluster){reconcile, stopControllers},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "the controller manager may be down, and a TDSet with a finalizer keeps its namespace Terminating",
		},
		"the program restarts during the drain": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {40 * time.Second, restart}},
			want:   "gone after 1m0s",
			why:    "a restart loses what the program remembers, but the time of the deletion is in the TDSet",
		},
		"the program is down until after the timeout": {
			before: []func(*cluster){reconcile, deleteTDSet},
			happen: []event{{2 * time.Minute, restart}},
			want:   "gone after 2m0s",
			why:    "the timeout counts from the deletion, even if the program wasn't running",
		},
		"the Deployment can't be scaled at first": {
			before: []func(*cluster){reconcile, refuseDeployment},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, refuseNothing}, {30 * time.Second, endPods}},
			want:   "gone after 30s",
		},
		"the Deployment can't be scaled for ten seconds, and no event follows": {
			before: []func(*cluster){reconcile, refuseDeployment, refuseUntil(10 * time.Second)},
			happen: []event{{0, deleteTDSet}, {30 * time.Second, endPods}},
			want:   "gone after 30s",
			why:    "an error is retried soon, but a RequeueAfter in its place waits until the timeout",
		},
		"the Deployment can never be scaled": {
			before: []func(*cluster){reconcile, refuseDeployment},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "the retries end at the timeout, because a webhook may refuse every change",
		},
		"the Pods can never be listed": {
			before: []func(*cluster){reconcile, refuseList},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "an error doesn't mean that no Pod is left, so wait until the timeout",
		},
		"the finalizer can't be removed at first": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, refuseTDSet}, {20 * time.Second, endPods}, {30 * time.Second, refuseNothing}},
			want:   "gone after 30s",
		},
		"the finalizer can't be removed for five seconds, and no event follows": {
			before: []func(*cluster){reconcile, refuseTDSet, refuseUntil(25 * time.Second)},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}},
			want:   "gone after 25s",
			why:    "without an error there is no retry, so the finalizer is never removed",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestTheDeploymentIsGone(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"before the TDSet is deleted": {
			before: []func(*cluster){reconcile, deleteDeployment},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "there is nothing to scale, because the Pods are deleted with the Deployment",
		},
		"while the Pods terminate": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {5 * time.Second, deleteDeployment}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "deleting a namespace deletes everything in it, in any order",
		},
		"and its Pods, too": {
			before: []func(*cluster){reconcile, deleteDeployment, endPods},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 0s",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestSomebodyElsesFinalizer(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"remains after ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}, {30 * time.Second, nothing}},
			want:   "kept by example.com/backup, our finalizer removed after 20s, with a Deployment of 0 replicas",
			why:    "without its finalizer, the backup is never made",
		},
		"is removed before ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, removeBackup}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
		},
		"is removed after ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}, {30 * time.Second, removeBackup}},
			want:   "gone after 30s, our finalizer removed after 20s",
		},
		"is the only one": {
			before: []func(*cluster){addBackup},
			happen: []event{{0, deleteTDSet}},
			want:   "kept by example.com/backup",
			why:    "the TDSet was deleted before Reconcile saw it, so it has no Deployment to drain",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func (s scenario) run(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		defer func() {
			if t.Failed() && s.why != "" {
				t.Log("Why: " + s.why)
			}
		}()
		for _, step := range s.before {
			step(c)
			c.control()
		}
		c.began = time.Now()
		next := never // when the key is requeued
		for happen := s.happen; c.exists() && (next < never || len(happen) > 0); {
			if len(happen) > 0 && happen[0].at <= next {
				time.Sleep(happen[0].at - c.since())
				happen[0].does(c)
				c.control()
				happen = happen[1:]
			} else {
				time.Sleep(next - c.since())
			}
			if c.since() > 3*time.Minute {
				break
			}
			next = c.call()
		}
		if got := c.describe(); got != s.want {
			t.Errorf("the TDSet is %s; want %s", got, s.want)
		}
		switch {
		case c.lastErr != nil:
			t.Errorf("Reconcile returns an error each time, so it is retried forever: %v", c.lastErr)
		case c.lastFailure != nil && t.Failed():
			t.Logf("the last error of Reconcile: %v", c.lastFailure)
		}
		time.Sleep(time.Hour) // lets any goroutine that Reconcile started finish
	})
}

const never = 1000 * time.Hour

// cluster is an API server with one TDSet, and a Reconciler that works with it.
type cluster struct {
	*testing.T
	server      client.WithWatch
	name        client.ObjectKey // of the TDSet
	reconciler  *Reconciler
	refuses     string          // the requests that the server refuses: TDSets, Deployments or lists
	until       time.Duration   // when it stops refusing them; 0 means at refuseNothing
	beforeWrite func(*cluster)  // called once, right before the next write
	stopped     bool            // whether the controllers of Deployments and ReplicaSets are
	began       time.Time       // when the events began
	calls       int             // number of calls of Reconcile
	calling     bool            // whether a call is running
	requests    int             // number of requests in this call
	lastErr     error           // of the last call
	lastFailure error           // the last error that Reconcile returned, even if a later call succeeded
	removed     []time.Duration // when our finalizer was removed
	reported    map[string]bool // the formats of errorOnce
}

// clusters is the number of clusters so far. The TDSet has another name in each, so that a
// Reconciler can't reuse what it remembers of an earlier one.
var clusters int

func newCluster(t *testing.T) *cluster {
	scheme := runtime.NewScheme()
	if err := errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme), schedulev2.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	clusters++
	name := client.ObjectKey{Namespace: "default", Name: fmt.Sprintf("example-%d", clusters)}
	tdset := &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: types.UID("uid of " + name.Name)},
		Spec:       schedulev2.TDSetSpec{Container: schedulev2.Container{Image: "crccheck/hello-world", Port: 8000}, DefaultReplicas: 2},
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tdset).Build()
	c := &cluster{T: t, server: server, name: name, began: time.Now(), reported: map[string]bool{}}
	restart(c)
	return c
}

// client returns the Reconciler's client.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, opts ...client.GetOption) error {
			c.count()
			return server.Get(ctx, key, into, opts...)
		},
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			c.count()
			if c.isRefused("lists") {
				return errRefused
			}
			return server.List(ctx, into, opts...)
		},
		Create: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			return c.write("create", object, func() error { return server.Create(ctx, object, opts...) })
		},
		Update: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			return c.write("update", object, func() error { return server.Update(ctx, object, opts...) })
		},
		Patch: func(ctx context.Context, server client.WithWatch, object client.Object, by client.Patch, opts ...client.PatchOption) error {
			return c.write("patch", object, func() error { return server.Patch(ctx, object, by, opts...) })
		},
		Delete: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.DeleteOption) error {
			return c.write("delete", object, func() error { return server.Delete(ctx, object, opts...) })
		},
	})
}

var errRefused = apierrors.NewInternalError(errors.New("the disk is full"))

// write sends a write to the server, refuses it if a real server would, and checks the promises
// that hold at all times.
func (c *cluster) write(verb string, object client.Object, do func() error) error {
	c.count()
	if happens := c.beforeWrite; happens != nil {
		c.beforeWrite = nil
		happens(c)
	}
	if _, isTDSet := object.(*schedulev2.TDSet); isTDSet && c.isRefused("TDSets") || !isTDSet && c.isRefused("Deployments") {
		return errRefused
	}
	before, replicasBefore := c.tdset(), c.replicas()
	if err := do(); err != nil {
		return err
	}
	after, replicas := c.tdset(), c.replicas()
	deleted := !before.DeletionTimestamp.IsZero()
	if added := without(after.Finalizers, before.Finalizers); deleted && len(added) > 0 {
		after.Finalizers = before.Finalizers
		c.must(c.server.Update(c.Context(), after))
		return apierrors.NewInvalid(schedulev2.GroupVersion.WithKind("TDSet").GroupKind(), c.name.Name, field.ErrorList{field.Forbidden(
			field.NewPath("metadata.finalizers"), "no new finalizers can be added if the object is being deleted")})
	}
	ours := slices.Contains(before.Finalizers, finalizer)
	for _, removed := range without(before.Finalizers, after.Finalizers) {
		if removed != finalizer {
			c.errorOnce("Reconcile removed %s, which is somebody else's finalizer", removed)
			continue
		}
		c.removed = append(c.removed, c.since())
		if left := len(c.pods()); left > 0 && c.since() < drainTimeout {
			c.errorOnce("Reconcile removed the finalizer, but %d Pods were left", left)
		}
	}
	switch {
	case replicas > replicasBefore && deleted && replicasBefore < 0:
		c.errorOnce("Reconcile created a Deployment for a TDSet that was being deleted")
	case replicas > replicasBefore && deleted:
		c.errorOnce("Reconcile scaled the Deployment of a TDSet that was being deleted from %d to %d", replicasBefore, replicas)
	case replicas > replicasBefore && !ours:
		c.errorOnce("Reconcile created the Deployment of a TDSet without the finalizer")
	case deleted && !ours:
		c.errorOnce("Reconcile sent a write (%s %T) for a TDSet that was being deleted and didn't have our finalizer", verb, object)
	}
	return nil
}

// isRefused reports whether the server refuses such requests at this time.
func (c *cluster) isRefused(what string) bool {
	return c.refuses == what && (c.until == 0 || c.since() < c.until)
}

// errorOnce reports a broken promise, and when it was broken. It reports each format only once.
func (c *cluster) errorOnce(format string, args ...any) {
	if !c.reported[format] {
		c.reported[format] = true
		c.Errorf("after %v "+format, append([]any{c.since()}, args...)...)
	}
}

// without returns the finalizers that aren't among others.
func without(finalizers, others []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool { return slices.Contains(others, finalizer) })
}

// count fails the test if a call never ends, or if something keeps running after a call.
func (c *cluster) count() {
	if !c.calling {
		c.errorOnce("a goroutine that Reconcile had started sent a request: a restart would lose it, so return a RequeueAfter instead")
	}
	if c.requests++; c.requests > 100 {
		c.Fatal("one call of Reconcile sent more than 100 requests: return a RequeueAfter instead")
	}
}

// call calls Reconcile, and returns the time for which the key is requeued.
func (c *cluster) call() time.Duration {
	c.requests = 0
	if c.calls++; c.calls > 1000 {
		c.Fatalf("after %v Reconcile has been called 1000 times: its RequeueAfter is too short", c.since())
	}
	start := c.since()
	result, err := c.reconcile()
	if took := c.since() - start; took > 0 {
		c.errorOnce("Reconcile waited for %v, which blocks its worker: return a RequeueAfter instead", took)
	}
	c.control()
	c.lastErr = err
	switch {
	case err != nil:
		c.lastFailure = err
		return c.since() + time.Second
	case result.RequeueAfter > 0:
		return c.since() + result.RequeueAfter
	}
	return never
}

// reconcile calls Reconcile. A panic becomes an error, as with controller-runtime.
func (c *cluster) reconcile() (result ctrl.Result, err error) {
	defer func() {
		c.calling = false
		if found := recover(); found != nil {
			err = fmt.Errorf("panic: %v, at %s", found, regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())))
		}
	}()
	c.calling = true
	return c.reconciler.Reconcile(c.Context(), ctrl.Request{NamespacedName: c.name})
}

// control plays the controllers of Deployments and ReplicaSets, and the garbage collector. It
// creates as many Pods as the Deployment asks for, and deletes the others, which takes them some
// time to terminate.
func (c *cluster) control() {
	if c.stopped {
		return
	}
	pods, want := c.pods(), int(max(0, c.replicas()))
	for i := len(pods); i < want; i++ {
		c.must(c.server.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace:  c.name.Namespace,
			Name:       fmt.Sprintf("%s-%d", c.name.Name, i),
			Labels:     labelsOf(c.tdset()),
			Finalizers: []string{"example.com/still-running"},
		}}))
	}
	for i := want; i < len(pods); i++ {
		c.must(c.server.Delete(c.Context(), &pods[i]))
	}
}

func (c *cluster) since() time.Duration { return time.Since(c.began) }

// tdset returns the TDSet as it is stored, or one without a name if it is gone.
func (c *cluster) tdset() *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{}
	c.must(client.IgnoreNotFound(c.server.Get(context.Background(), c.name, tdset)))
	return tdset
}

func (c *cluster) exists() bool { return c.tdset().Name != "" }

// replicas returns the number of replicas that the Deployment asks for, or -1 if there is none.
func (c *cluster) replicas() int32 {
	deployment := &appsv1.Deployment{}
	err := c.server.Get(context.Background(), c.name, deployment)
	if apierrors.IsNotFound(err) {
		return -1
	}
	c.must(err)
	return ptr.Deref(deployment.Spec.Replicas, 1)
}

func (c *cluster) pods() []corev1.Pod {
	var pods corev1.PodList
	c.must(c.server.List(context.Background(), &pods))
	return pods.Items
}

// describe returns the state of the TDSet in words.
func (c *cluster) describe() string {
	tdset := c.tdset()
	words := fmt.Sprintf("gone after %v", c.since())
	if tdset.Name != "" {
		words = "kept by " + cmp.Or(strings.Join(slices.Sorted(slices.Values(tdset.Finalizers)), " and "), "no finalizer")
	}
	if len(c.removed) > 0 && (tdset.Name != "" || c.removed[0] != c.since()) {
		words += fmt.Sprintf(", our finalizer removed after %v", c.removed[0])
	}
	if replicas := c.replicas(); tdset.Name != "" && replicas >= 0 {
		words += fmt.Sprintf(", with a Deployment of %d replicas", replicas)
	}
	return words
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

func nothing(*cluster) {}

// reconcile calls Reconcile once, as the creation of the TDSet did.
func reconcile(c *cluster) { c.call() }

// restart starts the program again, with a new Reconciler.
func restart(c *cluster) {
	c.reconciler = &Reconciler{Client: c.client(), DrainTimeout: drainTimeout}
}

func stopControllers(c *cluster) { c.stopped = true }

func refuseTDSet(c *cluster)      { c.refuses = "TDSets" }
func refuseDeployment(c *cluster) { c.refuses = "Deployments" }
func refuseList(c *cluster)       { c.refuses = "lists" }
func refuseNothing(c *cluster)    { c.refuses = "" }

// refuseUntil ends the refusals at that time, without an event.
func refuseUntil(end time.Duration) func(*cluster) {
	return func(c *cluster) { c.until = end }
}

func beforeNextWrite(step func(*cluster)) func(*cluster) {
	return func(c *cluster) { c.beforeWrite = step }
}

func deleteTDSet(c *cluster) { c.must(c.server.Delete(c.Context(), c.tdset())) }

func deleteDeployment(c *cluster) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.name.Namespace, Name: c.name.Name}}
	c.must(client.IgnoreNotFound(c.server.Delete(c.Context(), deployment)))
}

// endPod terminates one Pod that is being deleted, and endPods terminates all of them.
func endPod(c *cluster)  { c.end(1) }
func endPods(c *cluster) { c.end(len(c.pods())) }

func (c *cluster) end(count int) {
	for _, pod := range c.pods() {
		if !pod.DeletionTimestamp.IsZero() && count > 0 {
			count--
			pod.Finalizers = nil
			c.must(c.server.Update(c.Context(), &pod))
		}
	}
}

const backup = "example.com/backup"

func addBackup(c *cluster) {
	tdset := c.tdset()
	tdset.Finalizers = append(tdset.Finalizers, backup)
	c.must(c.server.Update(c.Context(), tdset))
}

func removeBackup(c *cluster) {
	tdset := c.tdset()
	tdset.Finalizers = without(tdset.Finalizers, []string{backup})
	c.must(c.server.Update(c.Context(), tdset))
}
