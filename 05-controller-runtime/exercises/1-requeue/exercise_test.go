//go:build check || solution

// These tests check the promises of Reconcile. TestReconcile looks at the results of single calls.
// TestThreeHours runs a controller for three hours, which take no time in a bubble of
// testing/synctest. The API server is the fake client, and each test decides what the registry
// answers.
//
// As given, Reconcile is right only where it needs neither a retry nor a pause. `workshop test`
// checks these failures:
//
// fails: TestReconcile/the claim is pending, and the registry says when it will know more
// says: so it is called again after a backoff; want after 30s
//
// fails: TestReconcile/the claim is pending, and the registry can't say when it will know more
// says: so it is called again after a backoff; want after 5m0s
//
// fails: TestReconcile/somebody else has the name
// says: so it is called again after a backoff; want after 5m0s
//
// fails: TestReconcile/the Foo has the name
// says: so it is called again after 5m0s; want at the next event
//
// fails: TestReconcile/the registry will never give out the name
// says: so it is called again after a backoff; want at the next event
//
// fails: TestReconcile/the registry doesn't answer, but it registered the name earlier
// says: so it is called again at the next event; want after a backoff
//
// fails: TestReconcile/the status write fails
// says: Reconcile returned {RequeueAfter: 5m0s} together with an error, want an empty result
//
// fails: TestThreeHours/the claim is pending for a minute
// says: Reconcile asked the registry after [0s 5ms 15ms 35ms 75ms 155ms 315ms 635ms
//
// fails: TestThreeHours/somebody else has the name, and gives it back after 12 minutes
// says: Reconcile asked the registry after [0s 5ms 15ms 35ms 75ms 155ms 315ms 635ms
//
// fails: TestThreeHours/the registry refuses the name, and after an hour the Foo asks for another one
// says: want after [0s 1h0m0s]

package requeue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	ctrl.SetLogger(logr.Discard())
	m.Run()
}

var key = ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "example"}}

// When Reconcile is called again.
const (
	atNextEvent  = "at the next event"
	afterBackoff = "after a backoff"
)

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		claim      Claim
		err        error // returned by the registry
		writeFails bool
		was        string // the reason of the condition Ready before the call
		want       string
		wantReady  string // the reason after the call
		why        string
	}{
		"the claim is pending, and the registry says when it will know more": {
			claim:     Claim{State: Pending, KnowsMoreIn: 30 * time.Second},
			want:      "after 30s",
			wantReady: "Pending",
			why:       "nothing has failed, and the pauses of a backoff are far too short at first and too long in the end",
		},
		"the claim is pending, and the registry can't say when it will know more": {
			claim:     Claim{State: Pending},
			want:      "after 5m0s",
			wantReady: "Pending",
			why:       "no event will come, and RequeueAfter: 0 is the same as no RequeueAfter",
		},
		"somebody else has the name": {
			claim:     Claim{State: Taken},
			want:      "after 5m0s",
			wantReady: "Taken",
			why:       "nothing has failed, but no event will come when the name is given back",
		},
		"the Foo has the name": {
			claim:     Claim{State: Registered},
			want:      atNextEvent,
			wantReady: "Registered",
			why:       "there is nothing left to do, so why ask the registry again?",
		},
		"the registry will never give out the name": {
			err:       fmt.Errorf("%w: it has a dot", ErrRefused),
			want:      atNextEvent,
			wantReady: "Refused",
			why:       "the answer stays the same until somebody changes the Foo, which causes an event",
		},
		"the registry doesn't answer, but it registered the name earlier": {
			err:       errors.New("the registry is down"),
			was:       "Registered",
			want:      afterBackoff,
			wantReady: "Registered",
			why:       "a retry may succeed, but no event will cause one. Without an answer, the status must stay as it is",
		},
		"the status write fails": {
			claim:      Claim{State: Taken},
			writeFails: true,
			want:       afterBackoff,
			why:        "the status doesn't show the claim yet, so the write must be retried",
		},
		"the registry will never give out the name, and the status write fails": {
			err:        ErrRefused,
			writeFails: true,
			want:       afterBackoff,
			why:        "the status doesn't show the refusal yet, and a retry of the write may succeed",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			api := newAPI(t, test.was, test.writeFails)
			registry := &registry{answer: func(time.Duration, string) (Claim, error) { return test.claim, test.err }}
			result, err := (&Reconciler{Client: api, Registry: registry}).Reconcile(t.Context(), key)
			if got := calledAgain(result, err); got != test.want {
				t.Errorf("Reconcile returned %+v and the error %v, so it is called again %s; want %s", result, err, got, test.want)
			}
			if err != nil && !result.IsZero() {
				t.Errorf("Reconcile returned {RequeueAfter: %v} together with an error, want an empty result: it is ignored, and each time a warning is logged",
					result.RequeueAfter)
			}
			if len(registry.asked) != 1 {
				t.Errorf("Reconcile asked the registry %d times, want once", len(registry.asked))
			}
			if got := readyOf(t, api); got != test.wantReady {
				t.Errorf("the condition Ready has the reason %q, want %q", got, test.wantReady)
			}
			if t.Failed() {
				t.Log(test.why)
			}
		})
	}
}

func TestThreeHours(t *testing.T) {
	for sentence, test := range map[string]struct {
		registry func(since time.Duration, name string) (Claim, error)
		want     []time.Duration // when the registry is asked
	}{
		"the claim is pending for a minute": {
			registry: func(since time.Duration, _ string) (Claim, error) {
				if since < time.Minute {
					return Claim{State: Pending, KnowsMoreIn: 30 * time.Second}, nil
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, 30 * time.Second, time.Minute, time.Hour},
		},
		"somebody else has the name, and gives it back after 12 minutes": {
			registry: func(since time.Duration, _ string) (Claim, error) {
				if since < 12*time.Minute {
					return Claim{State: Taken}, nil
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute, time.Hour},
		},
		"the registry refuses the name, and after an hour the Foo asks for another one": {
			registry: func(_ time.Duration, name string) (Claim, error) {
				if name != "another" {
					return Claim{}, ErrRefused
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, time.Hour},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := newAPI(t, "", false)
				registry := &registry{answer: test.registry, began: time.Now()}
				sendEvent, stop := run(t, registry, &Reconciler{Client: api, Registry: registry})
				sendEvent()
				time.Sleep(time.Hour)
				foo := stored(t, api)
				foo.Spec.DeploymentName = "another"
				noError(t, api.Update(t.Context(), foo))
				sendEvent()
				time.Sleep(2 * time.Hour)
				stop()

				if asked := registry.asked[:min(12, len(registry.asked))]; slices.Equal(asked, test.want) {
					t.Logf("Reconcile asked the registry after %v", asked)
				} else {
					t.Errorf("Reconcile asked the registry after %v (%d times), want after %v", asked, len(registry.asked), test.want)
				}
				if got := readyOf(t, api); got != string(Registered) {
					t.Errorf("after three hours, the condition Ready has the reason %q, want %q", got, Registered)
				}
			})
		})
	}
}

// calledAgain describes when controller-runtime calls Reconcile again after such a result. See
// reconcileHandler in its internal/controller.
func calledAgain(result ctrl.Result, err error) string {
	switch {
	case errors.Is(err, reconcile.TerminalError(nil)):
		return atNextEvent
	case err != nil:
		return afterBackoff
	case result.RequeueAfter > 0:
		return fmt.Sprint("after ", result.RequeueAfter)
	case !result.IsZero():
		return afterBackoff + ", without an error (Requeue is deprecated)"
	}
	return atNextEvent
}

// registry is a Registry whose answers depend on the name and on the time since began.
type registry struct {
	answer func(since time.Duration, name string) (Claim, error)
	began  time.Time
	asked  []time.Duration // since began
	giveUp func()          // ends the controller
}

func (r *registry) Claim(_ context.Context, name string, _ types.UID) (Claim, error) {
	since := time.Since(r.began)
	if r.asked = append(r.asked, since); len(r.asked) == 500 { // it would never end
		r.giveUp()
	}
	return r.answer(since, name)
}

// run runs a controller with one worker until stop is called. Each call of sendEvent enqueues the
// Foo, as an event would.
func run(t *testing.T, registry *registry, reconciler reconcile.Reconciler) (sendEvent, stop func()) {
	c, err := controller.NewTypedUnmanaged("registrar", controller.TypedOptions[ctrl.Request]{
		Reconciler:         reconciler,
		RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](5*time.Millisecond, time.Minute),
		SkipNameValidation: new(true),
	})
	noError(t, err)
	var queue workqueue.TypedRateLimitingInterface[ctrl.Request]
	noError(t, c.Watch(source.Func(func(_ context.Context, q workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		queue = q
		return nil
	})))
	ctx, cancel := context.WithCancel(t.Context())
	registry.giveUp = cancel
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	synctest.Wait()
	return func() { queue.Add(key) }, func() {
		cancel()
		noError(t, <-ended)
	}
}

// newAPI returns an API server with a Foo that asks for the name shop. Its condition Ready has that
// reason.
func newAPI(t *testing.T, ready string, writeFails bool) client.Client {
	scheme := runtime.NewScheme()
	noError(t, samplecontrollerv1alpha1.Install(scheme))
	foo := &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of example", Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "shop"},
	}
	if ready != "" {
		foo.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: ready}}
	}
	server := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(foo).WithObjects(foo)
	if writeFails {
		server.WithInterceptorFuncs(interceptor.Funcs{
			SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
				return errors.New("the disk is full")
			},
		})
	}
	return server.Build()
}

func stored(t *testing.T, api client.Client) *samplecontrollerv1alpha1.Foo {
	t.Helper()
	foo := &samplecontrollerv1alpha1.Foo{}
	noError(t, api.Get(t.Context(), key.NamespacedName, foo))
	return foo
}

// readyOf returns the reason of the Foo's condition Ready, or "" if there is none.
func readyOf(t *testing.T, api client.Client) string {
	t.Helper()
	if ready := meta.FindStatusCondition(stored(t, api).Status.Conditions, "Ready"); ready != nil {
		return ready.Reason
	}
	return ""
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
