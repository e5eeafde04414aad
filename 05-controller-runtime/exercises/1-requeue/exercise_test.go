//go:build check || solution

// These tests check the promises of Reconcile. TestReconcile looks at the results of single calls.
// TestThreeHours runs a controller for three hours, which take no time in a bubble of
// testing/synctest. The API server is the fake client, and each test decides what the registry
// answers.
//
// As given, Reconcile is right only where it needs neither a retry nor a pause. `workshop test`
// checks these failures:
//
// fails: TestReconcile/the registry is working on it, and says when it will know more
// says: so it comes again soon, and ever later; want after 30s
//
// fails: TestReconcile/the registry is working on it, and can't say when it will know more
// says: so it comes again soon, and ever later; want after 5m0s
//
// fails: TestReconcile/the registry is working on it, and will know more in a quarter of an hour
// says: so it comes again soon, and ever later; want after 15m0s
//
// fails: TestReconcile/somebody else has the name
// says: so it comes again soon, and ever later; want after 5m0s
//
// fails: TestReconcile/the name is the Foo's
// says: so it comes again after 5m0s; want only when there is an event
//
// fails: TestReconcile/the registry will never give out the name
// says: so it comes again soon, and ever later; want only when there is an event
//
// fails: TestReconcile/the registry doesn't answer
// says: so it comes again only when there is an event; want soon, and ever later
//
// fails: TestReconcile/the registry doesn't answer, and had registered the name before
// says: so it comes again only when there is an event; want soon, and ever later
//
// fails: TestReconcile/the status can't be written
// says: beside the error it returned RequeueAfter 5m0s, want nothing
//
// fails: TestReconcile/the status can't be written, since somebody else was faster
// says: beside the error it returned RequeueAfter 5m0s, want nothing
//
// fails: TestThreeHours/the name is the Foo's at once
// says: it asked the registry 37 times: after 0s, 5m0s, 10m0s,
//
// fails: TestThreeHours/the registry works on it for a minute
// says: after 0s, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 635ms,
//
// fails: TestThreeHours/somebody has the name, and gives it back after 12 minutes
// says: after 0s, 5ms, 15ms, 35ms, 75ms, 155ms, 315ms, 635ms,
//
// fails: TestThreeHours/the registry refuses the name, and after an hour the Foo asks for another one
// says: want 2 times: after 0s, 1h0m0s
//
// fails: TestThreeHours/the registry is away, works on it, is away once more, and gives it out
// says: it asked the registry once: after 0s; want 7 times: after 0s, 5ms, 15ms, 35ms, 30.035s, 30.04s, 30.05s

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
	errAway = errors.New("the registry is away")
	errDisk = apierrors.NewInternalError(errors.New("the disk is full"))
)

// When Reconcile is called again.
const (
	byEvent = "only when there is an event"
	soon    = "soon, and ever later"
)

func after(pause time.Duration) string { return fmt.Sprint("after ", pause) }

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		claim     Claim
		err       error                               // returned by the registry
		foo       func(*samplecontrollerv1alpha1.Foo) // changes the Foo
		api       interceptor.Funcs                   // changes the API server
		gone      bool                                // there is no Foo
		mayBe     func(err error) bool                // accepts other errors, too
		want      string
		wantReady string // the reason of the condition Ready
		unasked   bool   // the registry must not be asked
		why       string
	}{
		"the registry is working on it, and says when it will know more": {
			claim:     Claim{State: Pending, KnowsMoreIn: 30 * time.Second},
			want:      after(30 * time.Second),
			wantReady: "Pending",
			why:       "nothing has failed. The pauses after a failure are far too short at first, and too long in the end",
		},
		"the registry is working on it, and can't say when it will know more": {
			claim:     Claim{State: Pending},
			want:      after(5 * time.Minute),
			wantReady: "Pending",
			why:       "nobody sends an event, and RequeueAfter: 0 is no RequeueAfter",
		},
		"the registry is working on it, and will know more in a quarter of an hour": {
			claim:     Claim{State: Pending, KnowsMoreIn: 15 * time.Minute},
			want:      after(15 * time.Minute),
			wantReady: "Pending",
			why:       "it has said when. pollEvery is for those cases in which nobody does",
		},
		"somebody else has the name": {
			claim:     Claim{State: Taken},
			want:      after(5 * time.Minute),
			wantReady: "Taken",
			why:       "nothing has failed, and nobody says when they give it back",
		},
		"the name is the Foo's": {
			claim:     Claim{State: Registered},
			want:      byEvent,
			wantReady: "Registered",
			why:       "all is done. What would it ask for?",
		},
		"the registry will never give out the name": {
			err:       fmt.Errorf("%w: it has a dot", ErrRefused),
			want:      byEvent,
			mayBe:     terminal,
			wantReady: "Refused",
			why:       "the answer stays the same until somebody changes the Foo, and that is an event",
		},
		"the registry doesn't answer": {
			err:  errAway,
			want: soon,
			why:  "it goes better some time, and no event says so. What fails should be seen in log and metrics, and ask ever less often",
		},
		"the registry doesn't answer, and had registered the name before": {
			err: errAway,
			foo: func(foo *samplecontrollerv1alpha1.Foo) {
				foo.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Registered"}}
			},
			want:      soon,
			wantReady: "Registered",
			why:       "it goes better some time, and no event says so. And no answer is no news",
		},
		"the status can't be written": {
			claim: Claim{State: Pending, KnowsMoreIn: 30 * time.Second},
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return errDisk
				},
			},
			want: soon,
			why:  "the Foo's user doesn't know yet",
		},
		"the status can't be written, since somebody else was faster": {
			claim: Claim{State: Taken},
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return apierrors.NewConflict(schema.GroupVersion(samplecontrollerv1alpha1.GroupVersion).WithResource("foos").GroupResource(), key.Name, errors.New("it has changed"))
				},
			},
			want: soon,
			why:  "the Foo's user doesn't know yet. A conflict is an error too: what the other one has written says nothing of the claim",
		},
		"the registry will never give out the name, and the status can't be written": {
			err: ErrRefused,
			api: interceptor.Funcs{
				SubResourceUpdate: func(context.Context, client.Client, string, client.Object, ...client.SubResourceUpdateOption) error {
					return errDisk
				},
			},
			want: soon,
			why:  "the Foo's user doesn't know yet, and to write the status again may well go better",
		},
		"the API server doesn't say what the Foo wants": {
			api: interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errDisk
				},
			},
			want:    soon,
			unasked: true,
		},
		"the Foo is gone": {
			gone:    true,
			want:    byEvent,
			unasked: true,
		},
		"the Foo is being deleted": {
			foo: func(foo *samplecontrollerv1alpha1.Foo) {
				foo.DeletionTimestamp, foo.Finalizers = &metav1.Time{Time: time.Unix(0, 0)}, []string{metav1.FinalizerDeleteDependents}
			},
			claim:   Claim{State: Pending},
			want:    byEvent,
			unasked: true,
			why:     "who is leaving needs no name",
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

				result, err := counted(r, registry)(t.Context(), key)
				time.Sleep(time.Hour) // in case it left something running

				if err == nil || test.mayBe == nil || !test.mayBe(err) {
					if got := comesAgain(result, err); got != test.want {
						t.Errorf("it returned %s, so it comes again %s; want %s", inWords(result, err), got, test.want)
					}
				}
				if err != nil && result != (ctrl.Result{}) {
					t.Errorf("beside the error it returned %s, want nothing: it is ignored, and the log gets a warning each time",
						inWords(result, nil))
				}
				if requeues(result) {
					t.Error("Requeue is deprecated: it is the backoff of an error, without the error")
				}
				if asked := len(registry.asked) > 0; asked == test.unasked {
					t.Errorf("it asked the registry: %v, want %v", asked, !test.unasked)
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
		"the name is the Foo's at once": {
			registry: func(time.Duration, string) (Claim, error) { return Claim{State: Registered}, nil },
			want:     []time.Duration{0},
		},
		"the registry works on it for a minute": {
			registry: func(since time.Duration, _ string) (Claim, error) {
				if since < time.Minute {
					return Claim{State: Pending, KnowsMoreIn: 30 * time.Second}, nil
				}
				return Claim{State: Registered}, nil
			},
			want: []time.Duration{0, 30 * time.Second, time.Minute},
		},
		"somebody has the name, and gives it back after 12 minutes": {
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
		"the registry is away, works on it, is away once more, and gives it out": {
			// The pauses after failures start over, because a success in between makes the queue
			// forget the failures.
			registry: func(since time.Duration, _ string) (Claim, error) {
				switch {
				case since < 20*time.Millisecond:
					return Claim{}, errAway
				case since < 30*time.Second:
					return Claim{State: Pending, KnowsMoreIn: 30 * time.Second}, nil
				case since < 30*time.Second+45*time.Millisecond:
					return Claim{}, errAway
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
				happened, stop := run(t, registry, counted(&Reconciler{Client: api, Registry: registry}, registry))
				happened()
				if test.changed > 0 {
					time.Sleep(test.changed)
					change(t, api, "another")
					happened()
				}
				time.Sleep(3*time.Hour - test.changed + time.Millisecond)
				stop()

				if slices.Equal(registry.asked, test.want) {
					t.Logf("it asked the registry %s", times(registry.asked))
				} else {
					t.Errorf("it asked the registry %s; want %s", times(registry.asked), times(test.want))
				}
				if want := test.want[len(test.want)-1]; registry.knows && registry.learned != want {
					t.Errorf("it learned that the name is the Foo's after %v, want after %v", registry.learned, want)
				}
				if got := readyOf(t, api); got != string(Registered) {
					t.Errorf("after three hours the condition Ready has the reason %q, want %q", got, Registered)
				}
			})
		})
	}
}

// comesAgain says when controller-runtime calls Reconcile again after such a result. See
// reconcileHandler in its internal/controller.
func comesAgain(result ctrl.Result, err error) string {
	switch {
	case terminal(err):
		return byEvent + " (and an error is logged)"
	case err != nil:
		return soon
	case result.RequeueAfter > 0:
		return after(result.RequeueAfter)
	case requeues(result):
		return soon + " (and no error is logged)"
	}
	return byEvent
}

func terminal(err error) bool { return errors.Is(err, reconcile.TerminalError(nil)) }

// requeues reports whether result sets the deprecated field, Requeue.
func requeues(result ctrl.Result) bool {
	result.RequeueAfter, result.Priority = 0, nil
	return !result.IsZero()
}

// inWords describes what Reconcile returned.
func inWords(result ctrl.Result, err error) string {
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
	answer  func(since time.Duration, name string) (Claim, error)
	began   time.Time
	giveUp  func()
	mutex   sync.Mutex
	asked   []time.Duration // since began
	called  bool            // Reconcile is running
	here    int             // how often it was asked in this call of Reconcile
	knows   bool            // it has said that a name is registered
	learned time.Duration   // when that was, since began
}

func (r *registry) Claim(ctx context.Context, name string, owner types.UID) (Claim, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if !r.called {
		r.Fatal("Reconcile has returned, and something that it left running asks the registry: nobody knows of it, and it ends",
			"with the program. Return, and say when to come again")
	}
	since := time.Since(r.began)
	r.asked = append(r.asked, since)
	if r.here++; r.here > 1 {
		r.Fatal("one call of Reconcile asks the registry again and again: while it waits, this worker does nothing else.",
			"Return, and say when to come again")
	}
	if len(r.asked) > 500 {
		r.giveUp()
		r.Fatalf("it asked the registry 500 times within %v: it comes again at once, forever", since)
	}
	if owner != newFoo(nil).UID {
		r.Errorf("the name is claimed for %q, want the Foo's UID", owner)
	}
	claim, err := r.answer(since, name)
	if claim.State == Registered && !r.knows {
		r.knows, r.learned = true, since
	}
	return claim, err
}

// counted returns r.Reconcile, and tells registry when each call begins and ends.
func counted(r *Reconciler, registry *registry) reconcile.Func {
	return func(ctx context.Context, key ctrl.Request) (ctrl.Result, error) {
		registry.setCalled(true)
		defer registry.setCalled(false)
		return r.Reconcile(ctx, key)
	}
}

func (r *registry) setCalled(called bool) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.called, r.here = called, 0
}

// run runs a controller with one worker until stop is called. Each call of happened is an event of
// the Foo.
func run(t *testing.T, registry *registry, reconciler reconcile.Func) (happened, stop func()) {
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
	happened = func() {
		select {
		case events <- key:
		case <-ctx.Done():
		}
	}
	return happened, func() {
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
