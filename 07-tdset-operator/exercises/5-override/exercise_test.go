//go:build check || solution

// These tests check what Parse, At and Reconcile promise. They call Reconcile as the queue would:
// after an event, which includes those of its own writes, and when its RequeueAfter is over. They
// set the clock from one such instant to the next, so no test has to wait.
//
// As given, Parse accepts invalid overrides, each override ends too late, and Reconcile reports its
// beginning again and again. `workshop test` checks these failures:
//
// fails: TestParse/1001 replicas
// says: is parsed as 1001 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/a negative number
// says: is parsed as -1 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/a number of more than 32 bits
// says: is parsed as 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no end
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end without a date
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/text after the override
// says: is parsed as 6 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/no annotation
// says: got 0 replicas until 0001-01-01T00:00:00Z and the error <nil>, want neither
//
// fails: TestAt/an override that ends before the window
// says: 6 replicas in 9-17, overridden: true, until 17:00; want
//
// fails: TestAt/the last window before the override's end
// says: 6 replicas in default, overridden: true, until 09:00; want
//
// fails: TestAt/exactly at the override's end
// says: 6 replicas in default, overridden: true, until 09:00; want
//
// fails: TestAt/an override of a schedule that never changes
// says: 6 replicas in 0-24, overridden: true, until never; want
//
// fails: TestReconcile/an override that ends after the last window
// says: "22:00 OverrideEnded"
//
// fails: TestReconcile/an override that ends in the middle of a second
// says: "16:30:00.5 OverrideEnded"
//
// fails: TestReconcile/an override of a schedule that never changes
// says: "22:00 OverrideEnded"
//
// fails: TestReconcile/an override that is extended and increased
// says: "23:00 OverrideEnded"
//
// fails: TestReconcile/an override that is removed before its end
// says: "16:30 OverrideEnded"
//
// fails: TestReconcile/events and restarts that change nothing
// says: "22:00 OverrideEnded"
//
// fails: TestReconcile/the program is down when the override ends
// says: "22:30 OverrideEnded"
//
// fails: TestReconcile/the status can't be written for a minute
// says: "22:00 OverrideEnded"
//
// fails: TestReconcile/two invalid overrides, and then a valid one
// says: "21:00 OverrideInvalid"
//
// fails: TestReconcile/an override that becomes invalid while it is in force
// says: "21:30 OverrideEnded"
//
// fails: TestRequeueAfter/a write takes 40 seconds
// says: at 21:00:40 RequeueAfter is 12h0m0s, want 59m20s, because the override ends at 22:00
//
// fails: TestRequeueAfter/a write ends after the override does
// says: at 23:00 RequeueAfter is 12h0m0s, want 1ms, because the override ends at 22:00

package override

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

const untilTen = "6 until 2026-01-01T22:00:00Z"

func TestParse(t *testing.T) {
	ten := at(22, 0)
	for sentence, test := range map[string]struct {
		text string
		want *Override // nil means that it is invalid
	}{
		"a valid override":              {untilTen, &Override{6, ten}},
		"an end with an offset":         {"6 until 2026-01-01T23:00:00+01:00", &Override{6, ten}},
		"0 replicas":                    {"0 until 2026-01-01T22:00:00Z", &Override{0, ten}},
		"1000 replicas":                 {"1000 until 2026-01-01T22:00:00Z", &Override{maxReplicas, ten}},
		"1001 replicas":                 {"1001 until 2026-01-01T22:00:00Z", nil},
		"a negative number":             {"-1 until 2026-01-01T22:00:00Z", nil},
		"a number of more than 32 bits": {"4294967302 until 2026-01-01T22:00:00Z", nil},
		"no end":                        {"6", nil},
		"an end without a date":         {"6 until 22:00", nil},
		"text after the override":       {"6 until 2026-01-01T22:00:00Z or so", nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			got, err := Parse(annotated(test.text))
			if test.want != nil {
				if err != nil || got == nil || got.Replicas != test.want.Replicas || !got.Until.Equal(test.want.Until) {
					t.Errorf("%q is parsed as %s with the error %v, want %s", test.text, inWords(got), err, inWords(test.want))
				}
				return
			}
			if err == nil {
				t.Fatalf("%q is parsed as %s, want an error", test.text, inWords(got))
			}
			if want := field.Invalid(annotationPath, test.text, format); !cmp.Equal(err, error(want)) {
				t.Errorf("the error is a %T, %q, want a %T, %q", err, err, want, want)
			}
		})
	}
	t.Run("no annotation", func(t *testing.T) {
		if got, err := Parse(aTDSet()); got != nil || err != nil {
			t.Errorf("got %s and the error %v, want neither", inWords(got), err)
		}
	})
}

func TestAt(t *testing.T) {
	for sentence, test := range map[string]struct {
		override *Override
		tdset    *schedulev2.TDSet
		instant  time.Time
		want     string
	}{
		"no override": {nil, aTDSet(), at(16, 0), "5 replicas in 9-17, overridden: false, until 17:00"},
		"an override that ends before the window":      {&Override{6, at(16, 30)}, aTDSet(), at(16, 0), "6 replicas in 9-17, overridden: true, until 16:30"},
		"an override that ends after the window":       {&Override{0, at(22, 0)}, aTDSet(), at(16, 0), "0 replicas in 9-17, overridden: true, until 17:00"},
		"the last window before the override's end":    {&Override{6, at(22, 0)}, aTDSet(), at(21, 0), "6 replicas in default, overridden: true, until 22:00"},
		"exactly at the override's end":                {&Override{6, at(22, 0)}, aTDSet(), at(22, 0), "1 replicas in default, overridden: false, until 09:00"},
		"an override of a schedule that never changes": {&Override{6, at(22, 0)}, allDay(), at(16, 0), "6 replicas in 0-24, overridden: true, until 22:00"},
	} {
		t.Run(sentence, func(t *testing.T) {
			state, err := At(&test.tdset.Spec, test.override, test.instant)
			noError(t, err)
			got := fmt.Sprintf("%d replicas in %s, overridden: %v, until %s", state.Replicas,
				schedule.Name(&test.tdset.Spec, state.Window), state.Overridden, clockTime(state.Next))
			if got != test.want {
				t.Errorf("at %s At returned\n%s; want\n%s", clockTime(test.instant), got, test.want)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		tdset *schedulev2.TDSet
		steps []func(*program)
		want  []string // the events and the changes of the status, with their times
	}{
		"an override that ends after the last window": {
			aTDSet(),
			steps(until(16, 0), annotate(untilTen), until(34, 0)),
			[]string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "17:00 17-21: 6", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1", "09:00 9-17: 5",
			},
		},
		"an override that ends in the middle of a second": {
			aTDSet(),
			steps(until(16, 0), annotate("6 until 2026-01-01T16:30:00.5Z"), until(16, 45)),
			[]string{"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30:00.5 OverrideEnded", "16:30:00.5 9-17: 5"},
		},
		"an override of a schedule that never changes": {
			allDay(),
			steps(until(16, 0), annotate(untilTen), until(34, 0)),
			[]string{"12:00 0-24: 5", "16:00 OverrideBegan", "16:00 0-24: 6", "22:00 OverrideEnded", "22:00 0-24: 5"},
		},
		"an override that is extended and increased": {
			aTDSet(),
			steps(until(16, 0), annotate("6 until 2026-01-01T16:30:00Z"), until(16, 15), annotate("8 until 2026-01-01T23:00:00Z"), until(24, 0)),
			[]string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:15 9-17: 8", "17:00 17-21: 8", "21:00 default: 8",
				"23:00 OverrideEnded", "23:00 default: 1",
			},
		},
		"an override that is removed before its end": {
			aTDSet(),
			steps(until(16, 0), annotate(untilTen), until(16, 30), removeOverride, until(18, 0)),
			[]string{"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30 OverrideEnded", "16:30 9-17: 5", "17:00 17-21: 3"},
		},
		"events and restarts that change nothing": {
			allDay(),
			steps(until(21, 0), annotate(untilTen), label, until(21, 30), restart, until(22, 0), label, until(22, 30), restart),
			[]string{"12:00 0-24: 5", "21:00 OverrideBegan", "21:00 0-24: 6", "22:00 OverrideEnded", "22:00 0-24: 5"},
		},
		"the program is down when the override ends": {
			allDay(),
			steps(until(21, 0), annotate(untilTen), stop, until(22, 30), restart),
			[]string{"12:00 0-24: 5", "21:00 OverrideBegan", "21:00 0-24: 6", "22:30 OverrideEnded", "22:30 0-24: 5"},
		},
		"the program is down during the whole override": {
			allDay(),
			steps(until(21, 0), stop, annotate(untilTen), until(22, 30), restart),
			[]string{"12:00 0-24: 5"},
		},
		"the status can't be written for a minute": {
			allDay(),
			steps(until(21, 0), breakWrites, annotate(untilTen), until(21, 1), fixWrites, label, until(22, 0)),
			[]string{"12:00 0-24: 5", "21:01 OverrideBegan", "21:01 0-24: 6", "22:00 OverrideEnded", "22:00 0-24: 5"},
		},
		"two invalid overrides, and then a valid one": {
			allDay(),
			steps(until(21, 0), annotate("6 until tonight"), label, annotate("6 until 22:00"), restart, annotate(untilTen)),
			[]string{"12:00 0-24: 5", "21:00 OverrideInvalid", "21:00 OverrideInvalid", "21:00 OverrideBegan", "21:00 0-24: 6"},
		},
		"an override that becomes invalid while it is in force": {
			allDay(),
			steps(until(21, 0), annotate(untilTen), until(21, 30), annotate("6 until later"), until(22, 30)),
			[]string{
				"12:00 0-24: 5", "21:00 OverrideBegan", "21:00 0-24: 6",
				"21:30 OverrideEnded", "21:30 OverrideInvalid", "21:30 0-24: 5",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newProgram(t, test.tdset)
			restart(p)
			for _, step := range test.steps {
				step(p)
			}
			if diff := cmp.Diff(test.want, p.seen); diff != "" {
				t.Errorf("the events and the changes of the status differ (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRequeueAfter calls Reconcile once, without the event that its own write causes.
func TestRequeueAfter(t *testing.T) {
	for sentence, test := range map[string]struct{ writeTakes, want time.Duration }{
		"a write takes 40 seconds":             {40 * time.Second, 59*time.Minute + 20*time.Second},
		"a write ends after the override does": {2 * time.Hour, time.Millisecond},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newProgram(t, annotated(untilTen))
			p.clock.SetTime(at(21, 0))
			p.writeTakes = test.writeTakes
			result, err := p.reconciler.Reconcile(t.Context(), key)
			noError(t, err)
			if pause := result.RequeueAfter; pause <= 0 || pause > max(test.want, time.Second) || pause < test.want && test.want > time.Second {
				t.Errorf("at %s RequeueAfter is %v, want %v, because the override ends at 22:00 (and 0 or less means never)",
					clockTime(p.clock.Now()), pause, test.want)
			}
		})
	}
}

// program simulates the program and its queue, with an API server and a clock.
type program struct {
	*testing.T
	clock      *clocktesting.FakeClock
	server     client.Client
	recorder   *events.FakeRecorder
	reconciler *Reconciler
	running    bool
	due        time.Time     // when RequeueAfter is over; zero means never
	writeTakes time.Duration // how long a write of the status takes
	writeFails error         // the error that it returns, if any

	seen []string // the events and the changes of the status, with their times
	last string   // the latest state in the status
}

var key = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "web"}}

func newProgram(t *testing.T, tdset *schedulev2.TDSet) *program {
	kinds := runtime.NewScheme()
	noError(t, schedulev2.AddToScheme(kinds))
	p := &program{T: t, clock: clocktesting.NewFakeClock(at(12, 0)), recorder: events.NewFakeRecorder(1000)}
	p.server = fake.NewClientBuilder().WithScheme(kinds).WithStatusSubresource(tdset).WithObjects(tdset).
		WithInterceptorFuncs(interceptor.Funcs{SubResourceUpdate: p.updateStatus}).Build()
	p.reconciler = &Reconciler{Client: p.server, Recorder: p.recorder, Clock: p.clock}
	return p
}

func (p *program) updateStatus(ctx context.Context, server client.Client, name string, object client.Object, opts ...client.SubResourceUpdateOption) error {
	p.clock.Step(p.writeTakes)
	if p.writeFails != nil {
		return p.writeFails
	}
	return server.SubResource(name).Update(ctx, object, opts...)
}

// reconcile calls Reconcile, and again for each event that its own writes cause.
func (p *program) reconcile() {
	for range 5 {
		before := p.stored().ResourceVersion
		result, err := p.reconciler.Reconcile(p.Context(), key)
		p.observe()
		if !errors.Is(err, p.writeFails) {
			p.Fatalf("at %s Reconcile returned the error %v, want %v (an error is retried, and anything else isn't)",
				clockTime(p.clock.Now()), err, p.writeFails)
		}
		p.due = time.Time{}
		if result.RequeueAfter > 0 {
			p.due = p.clock.Now().Add(result.RequeueAfter)
		}
		if p.stored().ResourceVersion == before {
			return
		}
	}
	p.Fatalf("at %s Reconcile writes whenever it is called, and each write causes another call", clockTime(p.clock.Now()))
}

// observe adds new events and changes of the status to seen.
func (p *program) observe() {
	now := clockTime(p.clock.Now())
	for len(p.recorder.Events) > 0 {
		words := strings.SplitN(<-p.recorder.Events, " ", 3) // type, reason, note
		p.seen = append(p.seen, now+" "+words[1])
		warns := words[1] == "OverrideInvalid"
		if (words[0] == "Warning") != warns {
			p.Errorf("at %s the event %s has the wrong type, %s", now, words[1], words[0])
		}
		if warns && !strings.Contains(words[2], annotationPath.String()) {
			p.Errorf("at %s the note of the event %s doesn't name the field: %s", now, words[1], words[2])
		}
	}
	status := p.stored().Status
	if status.DesiredReplicas == nil {
		return
	}
	if state := fmt.Sprintf("%s: %d", status.ActiveWindow, *status.DesiredReplicas); state != p.last {
		p.seen, p.last = append(p.seen, now+" "+state), state
	}
}

func (p *program) stored() *schedulev2.TDSet {
	tdset := &schedulev2.TDSet{}
	noError(p.T, p.server.Get(p.Context(), key.NamespacedName, tdset))
	return tdset
}

// store changes the TDSet, as a user would.
func (p *program) store(change func(*schedulev2.TDSet)) {
	tdset := p.stored()
	change(tdset)
	noError(p.T, p.server.Update(p.Context(), tdset))
	if p.running {
		p.reconcile()
	}
}

func steps(steps ...func(*program)) []func(*program) { return steps }

// until lets time pass until that hour and minute of the first day.
func until(hour, minute int) func(*program) {
	return func(p *program) {
		end := at(hour, minute)
		for calls := 0; p.running && !p.due.IsZero() && !p.due.After(end); calls++ {
			if calls == 10 {
				p.Fatalf("RequeueAfter led to 10 calls until %s, but it should lead to one for each State.Next", clockTime(p.due))
			}
			p.clock.SetTime(p.due)
			p.reconcile()
		}
		p.clock.SetTime(end)
	}
}

func annotate(text string) func(*program) {
	return func(p *program) {
		p.store(func(tdset *schedulev2.TDSet) { tdset.Annotations = map[string]string{Annotation: text} })
	}
}

func removeOverride(p *program) {
	p.store(func(tdset *schedulev2.TDSet) { tdset.Annotations = nil })
}

// label changes something that Reconcile ignores.
func label(p *program) {
	p.store(func(tdset *schedulev2.TDSet) { tdset.Labels = map[string]string{"changed": tdset.ResourceVersion} })
}

func stop(p *program) { p.running, p.due = false, time.Time{} }

// restart starts the program, which reconciles every TDSet.
func restart(p *program) {
	p.reconciler = &Reconciler{Client: p.server, Recorder: p.recorder, Clock: p.clock}
	p.running = true
	p.reconcile()
}

func breakWrites(p *program) { p.writeFails = errors.New("the disk is full") }
func fixWrites(p *program)   { p.writeFails = nil }

// at returns that hour and minute of 1 January 2026, in UTC. Hours may be more than 24.
func at(hour, minute int) time.Time {
	return time.Date(2026, 1, 1, hour, minute, 0, 0, time.UTC)
}

// clockTime returns the time of day, without seconds if there are none, or never for the zero time.
func clockTime(instant time.Time) string {
	if instant.IsZero() {
		return "never"
	}
	return strings.TrimSuffix(instant.UTC().Format("15:04:05.999999999"), ":00")
}

func inWords(override *Override) string {
	if override == nil {
		return "no override"
	}
	return fmt.Sprintf("%d replicas until %s", override.Replicas, override.Until.Format(time.RFC3339))
}

func aTDSet() *schedulev2.TDSet {
	return &schedulev2.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of web", Generation: 1},
		Spec: schedulev2.TDSetSpec{
			Windows: []schedulev2.Window{
				{Name: "9-17", Start: "09:00", End: "17:00", Replicas: 5},
				{Name: "17-21", Start: "17:00", End: "21:00", Replicas: 3},
			},
			DefaultReplicas: 1,
		},
	}
}

func annotated(text string) *schedulev2.TDSet {
	tdset := aTDSet()
	tdset.Annotations = map[string]string{Annotation: text}
	return tdset
}

func allDay() *schedulev2.TDSet {
	tdset := aTDSet()
	tdset.Spec.Windows = []schedulev2.Window{{Name: "0-24", Start: "00:00", End: "24:00", Replicas: 5}}
	return tdset
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
