//go:build check || solution

// These tests check what Reconcile promises. They follow a TDSet that is being deleted for three
// minutes, in a bubble of testing/synctest, where time passes at once. The API server is the fake
// client. The tests also play the controllers of Deployments and ReplicaSets, and the queue:
// Reconcile is called after an event, after a RequeueAfter, and a second after an error.
//
// As given, the steps are in the wrong order, among other mistakes. `workshop test` checks these
// failures:
//
// fails: TestDeletion/the Pods terminate one after the other
// says: after 5s Reconcile scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestDeletion/the Pods never terminate
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/the program restarts during the drain
// says: the TDSet is gone after 5s; want gone after 1m0s
//
// fails: TestDeletion/the program is down until after the timeout
// says: the TDSet is gone after 2m5s; want gone after 2m0s
//
// fails: TestDeletion/the Deployment can't be scaled for ten seconds
// says: the TDSet is gone after 15s; want gone after 30s
//
// fails: TestDeletion/the Deployment can never be scaled
// says: the TDSet is kept by schedule.rs/drain, with a Deployment of 2 replicas; want gone after 1m0s
//
// fails: TestDeletion/the Pods can never be listed
// says: the last call of Reconcile returned the error "list the Pods: the disk is full"
//
// fails: TestDeletion/the finalizer can't be removed for five seconds
// says: after 5s Reconcile scaled the Deployment of a TDSet that was being deleted from 0 to 2
//
// fails: TestDeletion/somebody has deleted the Deployment
// says: after 0s Reconcile created a Deployment for a TDSet that was being deleted
//
// fails: TestDeletion/somebody else's finalizer remains after ours
// says: after 5s Reconcile removed example.com/backup, which is somebody else's finalizer
//
// fails: TestDeletion/somebody else's finalizer is the only one
// says: after 0s Reconcile added a finalizer to a TDSet that was being deleted, which a real API server refuses

package finalizer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

const (
	drainTimeout = time.Minute
	backup       = "example.com/backup" // somebody else's finalizer
	never        = 1000 * time.Hour
)

func TestCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster(t)
		c.call()
		const want = "kept by schedule.rs/drain, with a Deployment of 2 replicas"
		if got := c.describe(); got != want {
			t.Errorf("the TDSet is %s; want %s", got, want)
		}
	})
}

// event is something that happens that long after the deletion, and enqueues the TDSet's key.
type event struct {
	at   time.Duration
	does func(*cluster)
}

func TestDeletion(t *testing.T) {
	for sentence, test := range map[string]struct {
		before []func(*cluster) // steps before somebody deletes the TDSet
		after  []event          // ordered by time
		want   string           // the state of the TDSet in the end
		why    string
	}{
		"the Pods terminate one after the other": {
			before: steps(reconcile),
			after:  []event{{10 * time.Second, endPod}, {30 * time.Second, endPod}},
			want:   "gone after 30s",
			why:    "a Pod that is being deleted is still running",
		},
		"the Pods never terminate": {
			before: steps(reconcile),
			want:   "gone after 1m0s",
			why:    "if a node is lost, its Pods are never reported as terminated, and the timeout causes no event",
		},
		"the program restarts during the drain": {
			before: steps(reconcile),
			after:  []event{{40 * time.Second, restart}},
			want:   "gone after 1m0s",
			why:    "a restart loses what the program remembers, but the time of the deletion is in the TDSet",
		},
		"the program is down until after the timeout": {
			before: steps(reconcile, stop),
			after:  []event{{2 * time.Minute, restart}},
			want:   "gone after 2m0s",
			why:    "the timeout counts from the deletion, even if the program wasn't running",
		},
		"the Deployment can't be scaled for ten seconds": {
			before: steps(reconcile, refuse("Deployment", 10*time.Second)),
			after:  []event{{30 * time.Second, endPods}},
			want:   "gone after 30s",
			why:    "an error is retried soon, but a RequeueAfter in its place waits until the timeout",
		},
		"the Deployment can never be scaled": {
			before: steps(reconcile, refuse("Deployment", never)),
			want:   "gone after 1m0s",
			why:    "the retries end at the timeout, because a webhook may refuse every change",
		},
		"the Pods can never be listed": {
			before: steps(reconcile, refuse("PodList", never)),
			want:   "gone after 1m0s",
			why:    "an error doesn't mean that no Pod is left, so wait until the timeout",
		},
		"the finalizer can't be removed for five seconds": {
			before: steps(reconcile, refuse("TDSet", 25*time.Second)),
			after:  []event{{20 * time.Second, endPods}},
			want:   "gone after 25s",
			why:    "without an error there is no retry, so the finalizer is never removed",
		},
		"somebody has deleted the Deployment": {
			before: steps(reconcile, deleteDeployment),
			after:  []event{{20 * time.Second, endPods}},
			want:   "gone after 20s",
			why:    "there is nothing to scale, because the Pods are deleted with the Deployment",
		},
		"somebody else's finalizer remains after ours": {
			before: steps(addBackup, reconcile),
			after:  []event{{20 * time.Second, endPods}, {30 * time.Second, reconcile}},
			want:   "kept by example.com/backup, with a Deployment of 0 replicas",
			why:    "without its finalizer, the backup is never made",
		},
		"somebody else's finalizer is the only one": {
			before: steps(addBackup),
			want:   "kept by example.com/backup",
			why:    "the TDSet was deleted before Reconcile saw it, so it has no Deployment to drain",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				for _, step := range test.before {
					step(c)
				}
				c.delete()
				c.follow(test.after)
				if got := c.describe(); got != test.want {
					t.Errorf("the TDSet is %s; want %s", got, test.want)
				}
				if t.Failed() {
					t.Logf("Why: %s\nthe last call of Reconcile returned the error %q", test.why, fmt.Sprint(c.lastErr))
				}
			})
		})
	}
}

// cluster is an API server with one TDSet, and a Reconciler that works with it.
type cluster struct {
	*testing.T
	server     client.WithWatch
	reconciler *Reconciler              // nil while the program is down
	refused    map[string]time.Duration // until when the server refuses requests for that kind
	deleted    time.Time                // when the TDSet was
	lastErr    error                    // of the last call
	reported   map[string]bool          // the formats of errorOnce
}

var key = client.ObjectKey{Namespace: "default", Name: "web"}

func newCluster(t *testing.T) *cluster {
	scheme := runtime.NewScheme()
	c := &cluster{T: t, deleted: time.Now(), refused: map[string]time.Duration{}, reported: map[string]bool{}}
	c.must(errors.Join(appsv1.AddToScheme(scheme), corev1.AddToScheme(scheme), schedulev2.AddToScheme(scheme)))
	tdset := &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of web"},
		Spec:       schedulev2.TDSetSpec{Container: schedulev2.Container{Image: "crccheck/hello-world", Port: 8000}, DefaultReplicas: 2},
	}
	c.server = fake.NewClientBuilder().WithScheme(scheme).WithObjects(tdset).Build()
	restart(c)
	return c
}

// client returns the Reconciler's client. The tests themselves use the server.
func (c *cluster) client() client.Client {
	return interceptor.NewClient(c.server, interceptor.Funcs{
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, opts ...client.ListOption) error {
			if err := c.refusal(into); err != nil {
				return err
			}
			return server.List(ctx, into, opts...)
		},
		Create: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.CreateOption) error {
			return c.write(object, func() error { return server.Create(ctx, object, opts...) })
		},
		Update: func(ctx context.Context, server client.WithWatch, object client.Object, opts ...client.UpdateOption) error {
			return c.write(object, func() error { return server.Update(ctx, object, opts...) })
		},
		Patch: func(ctx context.Context, server client.WithWatch, object client.Object, by client.Patch, opts ...client.PatchOption) error {
			return c.write(object, func() error { return server.Patch(ctx, object, by, opts...) })
		},
	})
}

var errRefused = errors.New("the disk is full")

func (c *cluster) refusal(object runtime.Object) error {
	gvk, err := c.server.GroupVersionKindFor(object)
	c.must(err)
	if c.since() < c.refused[gvk.Kind] {
		return errRefused
	}
	return nil
}

// write sends a write to the server, and checks the promises that hold at all times.
func (c *cluster) write(object client.Object, do func() error) error {
	if err := c.refusal(object); err != nil {
		return err
	}
	before, replicasBefore := c.tdset(), c.replicas()
	if err := do(); err != nil {
		return err
	}
	after, replicas := c.tdset(), c.replicas()
	ours := slices.Contains(before.Finalizers, finalizer)
	if before.DeletionTimestamp.IsZero() {
		if replicas > replicasBefore && !ours {
			c.errorOnce("Reconcile created the Deployment of a TDSet without the finalizer")
		}
		return nil
	}
	if len(without(after.Finalizers, before.Finalizers)) > 0 {
		c.errorOnce("Reconcile added a finalizer to a TDSet that was being deleted, which a real API server refuses")
	}
	for _, removed := range without(before.Finalizers, after.Finalizers) {
		if removed != finalizer {
			c.errorOnce("Reconcile removed %s, which is somebody else's finalizer", removed)
		} else if left := len(c.pods()); left > 0 && c.since() < drainTimeout {
			c.errorOnce("Reconcile removed the finalizer, but %d Pods were left", left)
		}
	}
	switch {
	case !ours:
		c.errorOnce("Reconcile wrote a %T for a TDSet that was being deleted and didn't have our finalizer", object)
	case replicas > replicasBefore && replicasBefore < 0:
		c.errorOnce("Reconcile created a Deployment for a TDSet that was being deleted")
	case replicas > replicasBefore:
		c.errorOnce("Reconcile scaled the Deployment of a TDSet that was being deleted from %d to %d", replicasBefore, replicas)
	}
	return nil
}

// errorOnce reports a broken promise, and when it was broken. It reports each format only once.
func (c *cluster) errorOnce(format string, args ...any) {
	if !c.reported[format] {
		c.reported[format] = true
		c.Errorf("after %v "+format, append([]any{c.since()}, args...)...)
	}
}

// follow lets the events happen, and calls Reconcile like the queue, until the TDSet is gone.
func (c *cluster) follow(events []event) {
	for next := c.call(); c.tdset().Name != "" && c.since() < 3*time.Minute; next = c.call() {
		if len(events) == 0 && next == never {
			return
		}
		if len(events) == 0 || next < events[0].at {
			time.Sleep(next - c.since())
			continue
		}
		time.Sleep(events[0].at - c.since())
		events[0].does(c)
		events = events[1:]
	}
}

// call calls Reconcile, and returns when the key is requeued.
func (c *cluster) call() time.Duration {
	c.control()
	if c.reconciler == nil {
		return never
	}
	start := time.Now()
	result, err := c.reconciler.Reconcile(c.Context(), ctrl.Request{NamespacedName: key})
	if took := time.Since(start); took > 0 {
		c.errorOnce("Reconcile waited for %v, which blocks its worker: return a RequeueAfter instead", took)
	}
	c.control()
	switch c.lastErr = err; {
	case err != nil:
		return c.since() + time.Second
	case result.RequeueAfter > 0:
		return c.since() + result.RequeueAfter
	}
	return never
}

// control plays the controllers of Deployments and ReplicaSets, and the garbage collector. It
// creates as many Pods as the Deployment asks for, and deletes the others, which takes them some
// time to terminate.
func (c *cluster) control() {
	pods, want := c.pods(), int(max(0, c.replicas()))
	for i := len(pods); i < want; i++ {
		c.must(c.server.Create(c.Context(), &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Namespace:  key.Namespace,
			Name:       fmt.Sprintf("%s-%d", key.Name, i),
			Labels:     labelsOf(c.tdset()),
			Finalizers: []string{"example.com/still-running"},
		}}))
	}
	for i := want; i < len(pods); i++ {
		c.must(c.server.Delete(c.Context(), &pods[i]))
	}
}

// since returns how long ago the TDSet was deleted.
func (c *cluster) since() time.Duration { return time.Since(c.deleted) }

// tdset returns the TDSet as it is stored, or one without a name if it is gone.
func (c *cluster) tdset() *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{}
	c.must(client.IgnoreNotFound(c.server.Get(c.Context(), key, tdset)))
	return tdset
}

// replicas returns the number of replicas that the Deployment asks for, or -1 if there is none.
func (c *cluster) replicas() int32 {
	deployment := &appsv1.Deployment{}
	err := c.server.Get(c.Context(), key, deployment)
	if apierrors.IsNotFound(err) {
		return -1
	}
	c.must(err)
	return ptr.Deref(deployment.Spec.Replicas, 1)
}

func (c *cluster) pods() []corev1.Pod {
	var pods corev1.PodList
	c.must(c.server.List(c.Context(), &pods))
	return pods.Items
}

// describe returns the state of the TDSet in words.
func (c *cluster) describe() string {
	tdset := c.tdset()
	if tdset.Name == "" {
		return fmt.Sprintf("gone after %v", c.since())
	}
	words := "kept by " + cmp.Or(strings.Join(tdset.Finalizers, " and "), "no finalizer")
	if replicas := c.replicas(); replicas >= 0 {
		words += fmt.Sprintf(", with a Deployment of %d replicas", replicas)
	}
	return words
}

func (c *cluster) delete() {
	c.must(c.server.Delete(c.Context(), c.tdset()))
	c.deleted = time.Now()
}

func (c *cluster) must(err error) {
	c.Helper()
	if err != nil {
		c.Fatal(err)
	}
}

// without returns the finalizers that aren't among others.
func without(finalizers, others []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool { return slices.Contains(others, finalizer) })
}

func steps(steps ...func(*cluster)) []func(*cluster) { return steps }

func reconcile(c *cluster) { c.call() }
func stop(c *cluster)      { c.reconciler = nil }
func restart(c *cluster)   { c.reconciler = &Reconciler{Client: c.client(), DrainTimeout: drainTimeout} }

func refuse(kind string, until time.Duration) func(*cluster) {
	return func(c *cluster) { c.refused[kind] = until }
}

func deleteDeployment(c *cluster) {
	c.must(c.server.Delete(c.Context(), desiredDeployment(c.tdset())))
}

// endPod terminates one Pod that is being deleted, and endPods terminates all of them.
func endPod(c *cluster)  { c.end(1) }
func endPods(c *cluster) { c.end(len(c.pods())) }

func (c *cluster) end(count int) {
	for _, pod := range c.pods()[:count] {
		pod.Finalizers = nil
		c.must(c.server.Update(c.Context(), &pod))
	}
}

func addBackup(c *cluster) {
	tdset := c.tdset()
	tdset.Finalizers = append(tdset.Finalizers, backup)
	c.must(c.server.Update(c.Context(), tdset))
}
