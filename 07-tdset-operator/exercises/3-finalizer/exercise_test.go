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
// fails: TestDeletion/its Pods take 20 seconds to end
// says: after 5s it let go, and 2 Pods were still there
//
// fails: TestDeletion/its Pods end one after the other
// says: after 5s it scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestDeletion/its Pods never end
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/its Pods aren't told to end
// says: the TDSet is kept by schedule.rs/drain, with a Deployment of 0 replicas; want gone after 1m0s
//
// fails: TestDeletion/the program restarts meanwhile
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/the program was away until time was up
// says: the TDSet is gone after 2m5s; want gone after 2m0s
//
// fails: TestDeletion/the Deployment can't be scaled at first
// says: the TDSet is gone after 15s; want gone after 30s
//
// fails: TestDeletion/the Deployment can't be scaled
// says: the TDSet is kept by schedule.rs/drain, with a Deployment of 2 replicas; want gone after 1m0s
//
// fails: TestDeletion/its Pods can't be listed
// says: each time it returns an error, so it comes again forever: list the Pods: Internal error occurred: the disk is full
//
// fails: TestDeletion/the Deployment can't be scaled for ten seconds, and no event says when it can
// says: the TDSet is gone after 15s; want gone after 30s
//
// fails: TestDeletion/it can't be let go at first
// says: the TDSet is gone after 5s; want gone after 30s
//
// fails: TestDeletion/it can't be let go for five seconds, and no event says when it can
// says: after 5s it scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestTheDeploymentIsGone/before the TDSet is deleted
// says: after 0s it made a Deployment for a TDSet that was being deleted
//
// fails: TestTheDeploymentIsGone/while the Pods end
// says: after 5s it made a Deployment for a TDSet that was being deleted
//
// fails: TestTheDeploymentIsGone/and so are the Pods
// says: after 0s it made a Deployment for a TDSet that was being deleted
//
// fails: TestSomebodyElsesFinalizer/keeps it after ours
// says: after 5s it removed example.com/backup, which is somebody else's
//
// fails: TestSomebodyElsesFinalizer/is removed before ours
// says: after 5s it removed example.com/backup, which is somebody else's
//
// fails: TestSomebodyElsesFinalizer/is removed after ours
// says: after 5s it removed example.com/backup, which is somebody else's
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

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

// scenario is a sequence of events, and what should become of the TDSet.
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

func TestLife(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"it is new": {
			happen: []event{{0, nothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"its Deployment is deleted": {
			happen: []event{{0, nothing}, {time.Second, deleteDeployment}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"the server doesn't take the finalizer at first": {
			before: []func(*cluster){refuseTDSet},
			happen: []event{{0, nothing}, {10 * time.Second, refuseNothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
		},
		"the server doesn't take the finalizer for ten seconds, and no event says when it does": {
			before: []func(*cluster){refuseTDSet, refuseUntil(10 * time.Second)},
			happen: []event{{0, nothing}},
			want:   "kept by schedule.rs/drain, with a Deployment of 2 replicas",
			why:    "who returns no error isn't called again, and the TDSet never gets its Deployment",
		},
		"somebody else adds a finalizer at the same moment": {
			before: []func(*cluster){atTheLastMoment(addBackup)},
			happen: []event{{0, nothing}},
			want:   "kept by example.com/backup and schedule.rs/drain, with a Deployment of 2 replicas",
		},
	} {
		t.Run(sentence, test.run)
	}
}

func TestDeletion(t *testing.T) {
	for sentence, test := range map[string]scenario{
		"its Pods take 20 seconds to end": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "a Pod that is being deleted has been told to end, and is still at work",
		},
		"its Pods end one after the other": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, endPod}, {30 * time.Second, endPod}},
			want:   "gone after 30s",
		},
		"its Pods never end": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "a node may be lost with all that ran there. Its Pods are never reported as ended, and no event says that time is up",
		},
		"its Pods aren't told to end": {
			before: []func(*cluster){reconcile, stopControllers},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "the controller manager may be away, and a TDSet that isn't let go keeps its namespace Terminating",
		},
		"the program restarts meanwhile": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {40 * time.Second, restart}},
			want:   "gone after 1m0s",
			why:    "what a program remembers is lost when it exits. The time of the deletion is in the TDSet",
		},
		"the program was away until time was up": {
			before: []func(*cluster){reconcile, deleteTDSet},
			happen: []event{{2 * time.Minute, restart}},
			want:   "gone after 2m0s",
			why:    "time is up, even if nobody was there to see it",
		},
		"the Deployment can't be scaled at first": {
			before: []func(*cluster){reconcile, refuseDeployment},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, refuseNothing}, {30 * time.Second, endPods}},
			want:   "gone after 30s",
		},
		"the Deployment can't be scaled for ten seconds, and no event says when it can": {
			before: []func(*cluster){reconcile, refuseDeployment, refuseUntil(10 * time.Second)},
			happen: []event{{0, deleteTDSet}, {30 * time.Second, endPods}},
			want:   "gone after 30s",
			why:    "an error is tried again soon. A RequeueAfter in its place waits until time is up, and so do the Pods",
		},
		"the Deployment can't be scaled": {
			before: []func(*cluster){reconcile, refuseDeployment},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "an error is tried again, and not forever: some webhook may refuse each change",
		},
		"its Pods can't be listed": {
			before: []func(*cluster){reconcile, refuseList},
			happen: []event{{0, deleteTDSet}},
			want:   "gone after 1m0s",
			why:    "an error isn't an answer: nobody knows whether a Pod is left, until time is up",
		},
		"it can't be let go at first": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, refuseTDSet}, {20 * time.Second, endPods}, {30 * time.Second, refuseNothing}},
			want:   "gone after 30s",
		},
		"it can't be let go for five seconds, and no event says when it can": {
			before: []func(*cluster){reconcile, refuseTDSet, refuseUntil(25 * time.Second)},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}},
			want:   "gone after 25s",
			why:    "who returns no error isn't called again, and the TDSet is never let go",
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
			why:    "there is nothing to scale: the Deployment's Pods end without that",
		},
		"while the Pods end": {
			before: []func(*cluster){reconcile},
			happen: []event{{0, deleteTDSet}, {5 * time.Second, deleteDeployment}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "deleting a namespace deletes everything in it, in any order",
		},
		"and so are the Pods": {
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
		"keeps it after ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}, {30 * time.Second, nothing}},
			want:   "kept by example.com/backup, let go by us after 20s, with a Deployment of 0 replicas",
			why:    "the backup isn't done, and now it never will be",
		},
		"is removed before ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {10 * time.Second, removeBackup}, {20 * time.Second, endPods}},
			want:   "gone after 20s",
		},
		"is removed after ours": {
			before: []func(*cluster){addBackup, reconcile},
			happen: []event{{0, deleteTDSet}, {20 * time.Second, endPods}, {30 * time.Second, removeBackup}},
			want:   "gone after 30s, let go by us after 20s",
		},
		"is the only one": {
			before: []func(*cluster){addBackup},
			happen: []event{{0, deleteTDSet}},
			want:   "kept by example.com/backup",
			why:    "the TDSet was deleted before we had seen it. Nothing was made for it, and nothing needs a drain",
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
		again := never // when the key is requeued
		for happen := s.happen; c.exists() && (again < never || len(happen) > 0); {
			if len(happen) > 0 && happen[0].at <= again {
				time.Sleep(happen[0].at - c.since())
				happen[0].does(c)
				c.control()
				happen = happen[1:]
			} else {
				time.Sleep(again - c.since())
			}
			if c.since() > 3*time.Minute {
				break
			}
			again = c.call()
		}
		if got := c.describe(); got != s.want {
			t.Errorf("the TDSet is %s; want %s", got, s.want)
		}
		switch {
		case c.lastErr != nil:
			t.Errorf("each time it returns an error, so it comes again forever: %v", c.lastErr)
		case c.said != nil && t.Failed():
			t.Logf("the last error that it returned: %v", c.said)
		}
		time.Sleep(time.Hour) // lets anything that it left running finish
	})
}

const never = 1000 * time.Hour

// cluster is an API server with one TDSet, and a Reconciler that works with it.
type cluster struct {
	*testing.T
	server     client.WithWatch
	name       client.ObjectKey // of the TDSet
	reconciler *Reconciler
	refuses    string          // the requests that the server refuses: TDSets, Deployments or lists
	until      time.Duration   // when it stops refusing them; 0 means at refuseNothing
	lastMoment func(*cluster)  // called once, right before the next write
	stopped    bool            // whether the controllers of Deployments and ReplicaSets are
	began      time.Time       // when the events began
	calls      int             // number of calls of Reconcile
	calling    bool            // whether a call is running
	requests   int             // number of requests in this call
	lastErr    error           // of the last call
	said       error           // the last error that Reconcile returned
	letGo      []time.Duration // when our finalizer was removed
	complained map[string]bool
}

// clusters is the number of clusters so far. The TDSet has another name in each, so that a
// Reconciler can't reuse what it remembers of an earlier one.
var clusters int

func newCluster(t *testing.T) *cluster {
	scheme := runtime.NewScheme()
	if err := errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme), schedulev1.AddToScheme(scheme)); err != nil {
		t.Fatal(err)
	}
	clusters++
	name := client.ObjectKey{Namespace: "default", Name: fmt.Sprintf("example-%d", clusters)}
	tdset := &schedulev1.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: name.Namespace, Name: name.Name, UID: types.UID("uid of " + name.Name)},
		Spec:       schedulev1.TDSetSpec{Container: schedulev1.Container{Image: "crccheck/hello-world", Port: 8000}, DefaultReplica: 2},
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithObjects(tdset).Build()
	c := &cluster{T: t, server: server, name: name, began: time.Now(), complained: map[string]bool{}}
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
	if happens := c.lastMoment; happens != nil {
		c.lastMoment = nil
		happens(c)
	}
	if _, isTDSet := object.(*schedulev1.TDSet); isTDSet && c.isRefused("TDSets") || !isTDSet && c.isRefused("Deployments") {
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
		return apierrors.NewInvalid(schedulev1.GroupVersion.WithKind("TDSet").GroupKind(), c.name.Name, field.ErrorList{field.Forbidden(
			field.NewPath("metadata.finalizers"), "no new finalizers can be added if the object is being deleted")})
	}
	ours := slices.Contains(before.Finalizers, finalizer)
	for _, removed := range without(before.Finalizers, after.Finalizers) {
		if removed != finalizer {
			c.complain("it removed %s, which is somebody else's", removed)
			continue
		}
		c.letGo = append(c.letGo, c.since())
		if left := len(c.pods()); left > 0 && c.since() < drainTimeout {
			c.complain("it let go, and %d Pods were still there", left)
		}
	}
	switch {
	case replicas > replicasBefore && deleted && replicasBefore < 0:
		c.complain("it made a Deployment for a TDSet that was being deleted")
	case replicas > replicasBefore && deleted:
		c.complain("it scaled the Deployment of a TDSet that was being deleted from %d to %d", replicasBefore, replicas)
	case replicas > replicasBefore && !ours:
		c.complain("it made the Deployment of a TDSet that didn't have the finalizer")
	case deleted && !ours:
		c.complain("it sent a write (%s %T) about a TDSet that was being deleted and didn't have our finalizer", verb, object)
	}
	return nil
}

// isRefused reports whether the server refuses such requests at this time.
func (c *cluster) isRefused(what string) bool {
	return c.refuses == what && (c.until == 0 || c.since() < c.until)
}

// complain reports something that should never happen, and when it did. It reports each only once.
func (c *cluster) complain(format string, args ...any) {
	if !c.complained[format] {
		c.complained[format] = true
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
		c.complain("something that Reconcile had left running asked the server: nobody knows of that, and it ends with the program. " +
			"Return, and say when to come again")
	}
	if c.requests++; c.requests > 100 {
		c.Fatal("one call of Reconcile asks the server again and again: return, and say when to come again")
	}
}

// call calls Reconcile, and returns the time for which the key is requeued.
func (c *cluster) call() time.Duration {
	c.requests = 0
	if c.calls++; c.calls > 1000 {
		c.Fatalf("after %v Reconcile has come 1000 times: it asks for far too short a pause", c.since())
	}
	start := c.since()
	result, err := c.reconcile()
	if took := c.since() - start; took > 0 {
		c.complain("Reconcile had waited for %v: meanwhile its worker does nothing else. Return, and say when to come again", took)
	}
	c.control()
	c.lastErr = err
	switch {
	case err != nil:
		c.said = err
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
			err = fmt.Errorf("it panicked: %v, at %s", found, regexp.MustCompile(`\bexercise\.go:\d+`).FindString(string(debug.Stack())))
		}
	}()
	c.calling = true
	return c.reconciler.Reconcile(c.Context(), ctrl.Request{NamespacedName: c.name})
}

// control plays the controllers of Deployments and ReplicaSets, and the garbage collector. It
// creates as many Pods as the Deployment asks for, and tells the others to stop, which takes them
// some time.
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
			Finalizers: []string{"example.com/still-at-work"},
		}}))
	}
	for i := want; i < len(pods); i++ {
		c.must(c.server.Delete(c.Context(), &pods[i]))
	}
}

func (c *cluster) since() time.Duration { return time.Since(c.began) }

// tdset returns the TDSet as it is stored, or one without a name if it is gone.
func (c *cluster) tdset() *schedulev1.TDSet {
	tdset := &schedulev1.TDSet{}
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

// describe says in words what has become of the TDSet.
func (c *cluster) describe() string {
	tdset := c.tdset()
	words := fmt.Sprintf("gone after %v", c.since())
	if tdset.Name != "" {
		words = "kept by " + cmp.Or(strings.Join(slices.Sorted(slices.Values(tdset.Finalizers)), " and "), "nobody")
	}
	if len(c.letGo) > 0 && (tdset.Name != "" || c.letGo[0] != c.since()) {
		words += fmt.Sprintf(", let go by us after %v", c.letGo[0])
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

func atTheLastMoment(step func(*cluster)) func(*cluster) {
	return func(c *cluster) { c.lastMoment = step }
}

func deleteTDSet(c *cluster) { c.must(c.server.Delete(c.Context(), c.tdset())) }

func deleteDeployment(c *cluster) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: c.name.Namespace, Name: c.name.Name}}
	c.must(client.IgnoreNotFound(c.server.Delete(c.Context(), deployment)))
}

// endPod ends one Pod that was told to stop, and endPods ends all of them.
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
