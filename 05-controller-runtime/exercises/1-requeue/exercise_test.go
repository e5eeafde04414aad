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
// fails: TestReconcile/the claim is pending, and the registry will know more in a quarter of an hour
// says: so it is called again after a backoff; want after 15m0s
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
// fails: TestReconcile/the registry doesn't answer
// says: so it is called again at the next event; want after a backoff
//
// fails: TestReconcile/the registry doesn't answer, but it registered the name earlier
// says: so it is called again at the next event; want after a backoff
//
// fails: TestReconcile/the status write fails
// says: Reconcile returned RequeueAfter 5m0s together with an error, want an empty result
//
// fails: TestReconcile/the status write is refused with a conflict
// says: Reconcile returned RequeueAfter 5m0s together with an error, want an empty result
//
// fails: TestThreeHours/the Foo gets the name at once
// says: Reconcile asked the registry 37 times: after 0s, 5m0s, 10m0s,
//
// fails: TestThreeHours/the claim is pending for a minute
// says: after 0s, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 635ms,
//
// fails: TestThreeHours/somebody else has the name, and gives it back after 12 minutes
// says: after 0s, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 635ms,
//
// fails: TestThreeHours/the registry refuses the name, and after an hour the Foo asks for another one
// says: want 2 times: after 0s, 1h0m0s
//
// fails: TestThreeHours/the registry fails, answers Pending, fails again, and registers the name
// says: Reconcile asked the registry once: after 0s; want 7 times: after 0s, 5ms, 15ms, 35ms, 30.035s, 30.04s, 30.05s

package requeue

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
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
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

var (
	key     = ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "example"}}
	errDown = errors.New("the registry is down")
	errDisk = apierrors.NewInternalError(errors.New("the disk is full"))
)

// When Reconcile is called again.
const (
	atNextEvent  = "at the next event"
	afterBackoff = "after a backoff"
)

func after(pause time.Duration) string { return fmt.Sprint("after ", pause) }

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		claim      Claim
		err        error                               // returned by the registry
		foo        func(*samplecontrollerv1alpha1.Foo) // changes the Foo
		api        interceptor.Funcs                   // changes the API server
		gone       bool                                // there is no Foo
		alsoAccept func(err error) bool                // accepts other errors, too
		want       string
		wantReady  string // the reason of the condition Ready
		notAsked   bool   // the registry must not be asked
		why        string
	}{
		"the claim is pending, and the registry says when it will know more": {
			claim:     Claim{State: Pending, KnowsMoreIn: 30 * time.Second},
			want:      after(30 * time.Second),
			wantReady: "Pending",
			why:       "nothing has failed, and the pauses of a backoff are far too short at first and too long in the end",
		},
		"the claim is pending, and the registry can't say when it will know more": {
			claim:     Claim{State: Pending},
			want:      after(5 * time.Minute),
			wantReady: "Pending",
			why:       "no event will come, and RequeueAfter: 0 is the same as no RequeueAfter",
		},
		"the claim is pending, and the registry will know more in a quarter of an hour": {
			claim:     Claim{State: Pending, KnowsMoreIn: 15 * time.Minute},
			want:      after(15 * time.Minute),
			wantReady: "Pending",
			why:       "the registry says when. pollEvery is only for cases in which nobody can say",
		},
		"somebody else has the name": {
			claim:     Claim{State: Taken},
			want:      after(5 * time.Minute),
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
			err:        fmt.Errorf("%w: it has a dot", ErrRefused),
			want:       atNextEvent,
			alsoAccept: terminal,
			wantReady:  "Refused",
			why:        "the answer stays the same until somebody changes the Foo, which causes an event",
		},
		"the registry doesn't answer": {
			err:  errDown,
			want: afterBackoff,
			why:  "a retry may succeed, but no event will cause one. An error is logged, counted, and retried with a backoff",
		},
		"the registry doesn't answer, but it registered the name earlier": {
			err: errDown,
			foo: func(foo *samplecontrollerv1alpha1.Foo) {
				foo.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Registered"}}
			},
			want:      afterBackoff,
			wantReady: "Registered",
			why:       "a retry may succeed, but no event will cause one. Without an answer, the status must stay as it is",
		},
		"the status write fails": {
			claim: Claim{State: Pending, KnowsMoreIn: 30 * time.Second},
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return errDisk
				},
			},
			want: afterBackoff,
			why:  "the status doesn't show the claim yet, so the write must be retried",
		},
		"the status write is refused with a conflict": {
			claim: Claim{State: Taken},
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return apierrors.NewConflict(schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithResource("foos").GroupResource(), key.Name, errors.New("it has changed"))
				},
			},
			want: afterBackoff,
			why:  "the status doesn't show the claim yet. A conflict is an error, too, because the other write doesn't concern the claim",
		},
		"the registry will never give out the name, and the status write fails": {
			err: ErrRefused,
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return errDisk
				},
			},
			want: afterBackoff,
			why:  "the status doesn't show the refusal yet, and a retry of the write may succeed",
		},
		"the Foo can't be read": {
			api: interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errDisk
				},
			},
			want:     afterBackoff,
			notAsked: true,
		},
		"the Foo is gone": {
			gone:     true,
			want:     atNextEvent,
			notAsked: true,
		},
		"the Foo is being deleted": {
			foo: func(foo *samplecontrollerv1alpha1.Foo) {
				foo.DeletionTimestamp, foo.Finalizers = &metav1.Time{Time: time.Unix(0, 0)}, []string{metav1.FinalizerDeleteDependents}
			},
			claim:    Claim{State: Pending},
			want:     atNextEvent,
			notAsked: true,
			why:      "a Foo that is being deleted needs no name",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var foos []client.Object
				if !test.gone {
					foos = append(foos, newFoo(test.foo))
				}
				api := newAPI(t, test.api, foos...)
				registry := &registry{T: t, answer: func(time.Duration, string) (Claim, error) { return test.claim, test.err }}
				r := &Reconciler{Client: api, Registry: registry}

				result, err := tracked(r, registry)(t.Context(), key)
				time.Sleep(time.Hour) // in case it left something running

				if err == nil || test.alsoAccept == nil || !test.alsoAccept(err) {
					if got := calledAgain(result, err); got != test.want {
						t.Errorf("Reconcile returned %s, so it is called again %s; want %s", describe(result, err), got, test.want)
					}
				}
				if err != nil && result != (ctrl.Result{}) {
					t.Errorf("Reconcile returned %s together with an error, want an empty result: it is ignored, and each time a warning is logged",
						describe(result, nil))
				}
				if requeues(result) {
					t.Error("Reconcile returned Requeue, which is deprecated: it causes a backoff like an error, but without an error")
				}
				if asked := len(registry.asked) > 0; asked == test.notAsked {
					t.Errorf("Reconcile asked the registry: %v, want %v", asked, !test.notAsked)
				}
				if got := readyOf(t, api); got != test.wantReady {
					t.Errorf("the condition Ready has the reason %q, want %q", got, test.wantReady)
				}
				if t.Failed() && test.why != "" {
					t.Log(test.why)
				}
			})
		})
	}
}

func TestThreeHours(t *testing.T) {
	for sentence, test := range map[string]struct {
		registry func(since time.Duration, name string) (Claim, error)
		changed  time.Duration   // when the user changes the name; 0: never
		want     []time.Duration // when the registry is asked
	}{
		"the Foo gets the name at once": {
			registry: func(time.Duration, string) (Claim, error) { return Claim{State: Registered}, nil },
			want:     []time.Duration{0},
		},
		"the claim is pending for a minute": {
			registry: func(since time.Duration, _ string) (Claim, error) {
				if since < time.Minute {
					return Claim{State: Pending, KnowsMoreIn: 30 * time.Second}, nil
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, 30 * time.Second, time.Minute},
		},
		"somebody else has the name, and gives it back after 12 minutes": {
			registry: func(since time.Duration, _ string) (Claim, error) {
				if since < 12*time.Minute {
					return Claim{State: Taken}, nil
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, 5 * time.Minute, 10 * time.Minute, 15 * time.Minute},
		},
		"the registry refuses the name, and after an hour the Foo asks for another one": {
			registry: func(_ time.Duration, name string) (Claim, error) {
				if name != "another" {
					return Claim{}, ErrRefused
				}
				return Claim{State: Registered}, nil
			},
			changed: time.Hour,
			want:    []time.Duration{0, time.Hour},
		},
		"the registry fails, answers Pending, fails again, and registers the name": {
			// The pauses after failures start over, because a success in between makes the queue
			// forget the failures.
			registry: func(since time.Duration, _ string) (Claim, error) {
				switch {
				case since < 20*time.Millisecond:
					return Claim{}, errDown
				case since < 30*time.Second:
					return Claim{State: Pending, KnowsMoreIn: 30 * time.Second}, nil
				case since < 30*time.Second+45*time.Millisecond:
					return Claim{}, errDown
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{
				0, 5 * time.Millisecond, 15 * time.Millisecond, 35 * time.Millisecond,
				30035 * time.Millisecond, 30040 * time.Millisecond, 30050 * time.Millisecond,
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				api := newAPI(t, interceptor.Funcs{}, newFoo(nil))
				registry := &registry{T: t, answer: test.registry, began: time.Now()}
				sendEvent, stop := run(t, registry, tracked(&Reconciler{Client: api, Registry: registry}, registry))
				sendEvent()
				if test.changed > 0 {
					time.Sleep(test.changed)
					change(t, api, "another")
					sendEvent()
				}
				time.Sleep(3*time.Hour - test.changed + time.Millisecond)
				stop()

				if slices.Equal(registry.asked, test.want) {
					t.Logf("Reconcile asked the registry %s", times(registry.asked))
				} else {
					t.Errorf("Reconcile asked the registry %s; want %s", times(registry.asked), times(test.want))
				}
				if want := test.want[len(test.want)-1]; registry.registered && registry.registeredAt != want {
					t.Errorf("Reconcile learned that the Foo has the name after %v, want after %v", registry.registeredAt, want)
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
	case terminal(err):
		return atNextEvent + " (and an error is logged)"
	case err != nil:
		return afterBackoff
	case result.RequeueAfter > 0:
		return after(result.RequeueAfter)
	case requeues(result):
		return afterBackoff + " (and no error is logged)"
	}
	return atNextEvent
}

func terminal(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) }

// requeues reports whether result sets the deprecated field, Requeue.
func requeues(result ctrl.Result) bool {
	result.RequeueAfter, result.Priority = 0, nil
	return !result.IsZero()
}

// describe describes what Reconcile returned.
func describe(result ctrl.Result, err error) string {
	var words []string
	if requeues(result) {
		words = append(words, "Requeue")
	}
	if result.RequeueAfter != 0 {
		words = append(words, fmt.Sprint("RequeueAfter ", result.RequeueAfter))
	}
	if err != nil {
		words = append(words, fmt.Sprintf("the error %q", err))
	}
	if len(words) == 0 {
		return "neither a pause nor an error"
	}
	return strings.Join(words, " and ")
}

// times describes a list of times: how many there are, and the first eight.
func times(all []time.Duration) string {
	count := fmt.Sprintf("%d times", len(all))
	switch len(all) {
	case 0:
		return "never"
	case 1:
		count = "once"
	}
	var words []string
	for _, at := range all[:min(8, len(all))] {
		words = append(words, at.String())
	}
	if len(all) > 8 {
		words = append(words, "…")
	}
	return count + ": after " + strings.Join(words, ", ")
}

// registry is a Registry whose answers depend on the name and on the time since began.
type registry struct {
	*testing.T
	answer       func(since time.Duration, name string) (Claim, error)
	began        time.Time
	giveUp       func()
	mutex        sync.Mutex
	asked        []time.Duration // since began
	running      bool            // whether Reconcile is running
	inCall       int             // how often it was asked in this call of Reconcile
	registered   bool            // whether it has answered Registered
	registeredAt time.Duration   // when that was, since began
}

func (r *registry) Claim(ctx context.Context, name string, owner types.UID) (Claim, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.running {
		r.Fatal("a goroutine that Reconcile left running asks the registry, but a restart would end that goroutine:",
			"return RequeueAfter instead")
	}
	since := time.Since(r.began)
	r.asked = append(r.asked, since)
	if r.inCall++; r.inCall > 1 {
		r.Fatal("one call of Reconcile asks the registry more than once, so this worker can do nothing else:",
			"return RequeueAfter instead")
	}
	if len(r.asked) > 500 {
		r.giveUp()
		r.Fatalf("Reconcile asked the registry 500 times within %v: it is called again at once, forever", since)
	}
	if owner != newFoo(nil).UID {
		r.Errorf("the name is claimed for %q, want the Foo's UID", owner)
	}
	claim, err := r.answer(since, name)
	if claim.State == Registered && !r.registered {
		r.registered, r.registeredAt = true, since
	}
	return claim, err
}

// tracked returns r.Reconcile, and tells registry when each call begins and ends.
func tracked(r *Reconciler, registry *registry) reconcile.Func {
	return func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
		registry.setRunning(true)
		defer registry.setRunning(false)
		return r.Reconcile(ctx, key)
	}
}

func (r *registry) setRunning(running bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.running, r.inCall = running, 0
}

// run runs a controller with one worker until stop is called. Each call of sendEvent enqueues the
// Foo, as an event would.
func run(t *testing.T, registry *registry, reconciler reconcile.Func) (sendEvent, stop func()) {
	c, err := controller.NewTypedUnmanaged("registrar", controller.TypedOptions[ctrl.Request]{
		Reconciler:         reconciler,
		RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](5*time.Millisecond, time.Minute),
		SkipNameValidation: new(true),
		RecoverPanic:       new(false), // so that the test reports panics
	})
	noError(t, err)
	events := make(chan ctrl.Request)
	ctx, cancel := context.WithCancel(t.Context())
	noError(t, c.Watch(source.Func(func(ctx context.Context, queue workqueue.TypedRateLimitingInterface[ctrl.Request]) error {
		go func() {
			for {
				select {
				case key := <-events:
					queue.Add(key)
				case <-ctx.Done():
					return
				}
			}
		}()
		return nil
	})))
	registry.giveUp = cancel
	ended := make(chan error, 1)
	go func() { ended <- c.Start(ctx) }()
	sendEvent = func() {
		select {
		case events <- key:
		case <-ctx.Done():
		}
	}
	return sendEvent, func() {
		t.Helper()
		cancel()
		noError(t, <-ended)
		time.Sleep(time.Hour) // in case something was left running
	}
}

// newFoo returns a Foo that asks for the name shop.
func newFoo(change func(*samplecontrollerv1alpha1.Foo)) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of example", Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "shop"},
	}
	if change != nil {
		change(foo)
	}
	return foo
}

// newAPI returns an API server that has these Foos.
func newAPI(t *testing.T, funcs interceptor.Funcs, foos ...client.Object) client.WithWatch {
	scheme := runtime.NewScheme()
	noError(t, samplecontrollerv1alpha1.Install(scheme))
	server := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&samplecontrollerv1alpha1.Foo{}).WithObjects(foos...).Build()
	return interceptor.NewClient(server, funcs)
}

// stored returns the Foo as the server has it, or nil.
func stored(t *testing.T, api client.WithWatch) *samplecontrollerv1alpha1.Foo {
	server := api.(interface{ Unwrap() client.WithWatch }).Unwrap()
	foo := &samplecontrollerv1alpha1.Foo{}
	err := server.Get(t.Context(), key.NamespacedName, foo)
	if apierrors.IsNotFound(err) {
		return nil
	}
	noError(t, err)
	return foo
}

// readyOf returns the reason of the Foo's condition Ready, or "" if there is no condition or no
// Foo.
func readyOf(t *testing.T, api client.WithWatch) string {
	foo := stored(t, api)
	if foo == nil {
		return ""
	}
	if ready := meta.FindStatusCondition(foo.Status.Conditions, "Ready"); ready != nil {
		return ready.Reason
	}
	return ""
}

// change makes the Foo ask for another name.
func change(t *testing.T, api client.WithWatch, name string) {
	foo := stored(t, api)
	foo.Spec.DeploymentName = name
	noError(t, api.Update(t.Context(), foo))
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
