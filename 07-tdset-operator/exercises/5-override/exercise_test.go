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
// fails: TestParse/a fraction
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/a number in words
// says: is parsed as 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no number
// says: is parsed as 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no end
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end in words
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end without a date
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end without an offset
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/a date that doesn't exist
// says: is parsed as 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/text after the override
// says: is parsed as 6 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/text before the override
// says: is parsed as 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an empty annotation
// says: is parsed as 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no annotation
// says: got 0 replicas until 0001-01-01T00:00:00Z and the error <nil>, want neither
//
// fails: TestAt/an override that ends before the window
// says: 6 replicas, window 9-17, overridden: true, next: 2026-01-01T17:00:00Z; want
//
// fails: TestAt/the last window before the override's end
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/a nanosecond before the override's end
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/exactly at the override's end
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/an override with the scheduled number of replicas
// says: 5 replicas, window 9-17, overridden: true, next: 2026-01-01T17:00:00Z; want
//
// fails: TestAt/an override of a schedule that never changes
// says: 6 replicas, window 0-24, overridden: true, next: never; want
//
// fails: TestAt/an expired override of a schedule that never changes
// says: 6 replicas, window 0-24, overridden: true, next: never; want
//
// fails: TestNext
// says: override until 15:00: the state changes at 15:01, before Next, which was 17:00
//
// fails: TestReconcile/an override that ends after the last window
// says: RequeueAfter led to calls at [17:00 21:00 09:00], want [17:00 21:00 22:00 09:00]
//
// fails: TestReconcile/an override that ends with a window
// says: "21:00 OverrideEnded"
//
// fails: TestReconcile/an override that ends in the middle of a second
// says: RequeueAfter led to calls at [17:00], want [16:30:00.5 17:00]
//
// fails: TestReconcile/an override with the scheduled number of replicas
// says: RequeueAfter led to calls at [], want [16:30]
//
// fails: TestReconcile/an override of a schedule that never changes
// says: RequeueAfter led to calls at [], want [22:00]
//
// fails: TestReconcile/an override that is extended and increased
// says: RequeueAfter led to calls at [17:00 21:00], want [17:00 21:00 23:00]
//
// fails: TestReconcile/an override that is removed before its end
// says: "16:30 OverrideEnded"
//
// fails: TestReconcile/events that change nothing
// says: RequeueAfter led to calls at [17:00 21:00], want [17:00 21:00 22:00]
//
// fails: TestReconcile/the program restarts during the override, and after it
// says: RequeueAfter led to calls at [17:00 21:00], want [17:00 21:00 22:00]
//
// fails: TestReconcile/the program is down when the override ends
// says: "22:30 OverrideEnded"
//
// fails: TestReconcile/the status can't be written for a minute
// says: RequeueAfter led to calls at [17:00 21:00], want [17:00 21:00 22:00]
//
// fails: TestReconcile/an invalid override
// says: "16:00 OverrideInvalid"
//
// fails: TestReconcile/two invalid overrides, and then a valid one
// says: RequeueAfter led to calls at [17:00 21:00], want [17:00 21:00 22:00]
//
// fails: TestReconcile/an override that becomes invalid while it is in force
// says: "21:30 OverrideEnded"
//
// fails: TestRequeueAfter/a write takes no time
// says: at 21:00 RequeueAfter is 12h0m0s, so the next call is at 09:00, but the override ends at 22:00
//
// fails: TestRequeueAfter/a write takes 40 seconds
// says: at 21:00:40 RequeueAfter is 12h0m0s, so the next call is at 09:00:40, but the override ends at 22:00
//
// fails: TestRequeueAfter/a write ends when the override does
// says: at 22:00 RequeueAfter is 12h0m0s, so the next call is at 10:00, but the override ends at 22:00
//
// fails: TestRequeueAfter/a write ends after the override does
// says: at 23:00 RequeueAfter is 12h0m0s, so the next call is at 11:00, but the override ends at 22:00

package override

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// Discard the log, because it would only hide what the tests report.
func TestMain(m *testing.M) {
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	ctrl.SetLogger(klog.Background())
	goleak.VerifyTestMain(m)
}

func TestParse(t *testing.T) {
	ten := at(22, 0)
	for sentence, test := range map[string]struct {
		text string
		want *Override // nil means that it is invalid
	}{
		"a valid override":              {"6 until 2026-01-01T22:00:00Z", &Override{6, ten}},
		"an end with an offset":         {"6 until 2026-01-01T23:00:00+01:00", &Override{6, ten}},
		"0 replicas":                    {"0 until 2026-01-01T22:00:00Z", &Override{0, ten}},
		"1000 replicas":                 {"1000 until 2026-01-01T22:00:00Z", &Override{maxReplicas, ten}},
		"an end in the past":            {"6 until 1999-12-31T23:59:59Z", &Override{6, time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)}},
		"1001 replicas":                 {"1001 until 2026-01-01T22:00:00Z", nil},
		"a negative number":             {"-1 until 2026-01-01T22:00:00Z", nil},
		"a number of more than 32 bits": {"4294967302 until 2026-01-01T22:00:00Z", nil},
		"a fraction":                    {"6.5 until 2026-01-01T22:00:00Z", nil},
		"a number in words":             {"six until 2026-01-01T22:00:00Z", nil},
		"no number":                     {"until 2026-01-01T22:00:00Z", nil},
		"no end":                        {"6", nil},
		"an end in words":               {"6 until tonight", nil},
		"an end without a date":         {"6 until 22:00", nil},
		"an end without an offset":      {"6 until 2026-01-01T22:00:00", nil},
		"a date that doesn't exist":     {"6 until 2026-02-30T22:00:00Z", nil},
		"text after the override":       {"6 until 2026-01-01T22:00:00Z or so", nil},
		"text before the override":      {"about 6 until 2026-01-01T22:00:00Z", nil},
		"an empty annotation":           {"", nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := aTDSet()
			tdset.Annotations = map[string]string{Annotation: test.text}
			got, err := Parse(tdset)
			var wrong *field.Error
			switch {
			case errors.As(err, &wrong) && wrong == nil:
				t.Fatal("Parse returned a nil *field.Error as its error: return nil itself, because an interface with a nil pointer in it isn't nil")
			case test.want != nil && err != nil:
				t.Errorf("%q: got the error %v, want %s", test.text, err, inWords(test.want))
			case test.want != nil && (got == nil || got.Replicas != test.want.Replicas || !got.Until.Equal(test.want.Until)):
				t.Errorf("%q is parsed as %s, want %s", test.text, inWords(got), inWords(test.want))
			case test.want == nil && err == nil:
				t.Errorf("%q is parsed as %s, want an error", test.text, inWords(got))
			}
			if test.want != nil || err == nil {
				return
			}
			if wrong == nil {
				t.Fatalf("the error isn't a *field.Error: %v", err)
			}
			if wrong.Field != annotationPath.String() || wrong.BadValue != test.text || wrong.Detail != format {
				t.Errorf("the error is %q, want %q", wrong, field.Invalid(annotationPath, test.text, format))
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
		tdset    *schedulev2.TDSet // nil means one with the windows 9-17 and 17-21
		instant  time.Time
		want     comparableState
	}{
		"no override": {nil, nil, at(16, 0), comparableState{5, "9-17", false, at(17, 0)}},
		"an override that ends before the window":              {&Override{6, at(16, 30)}, nil, at(16, 0), comparableState{6, "9-17", true, at(16, 30)}},
		"an override that ends with the window":                {&Override{6, at(17, 0)}, nil, at(16, 0), comparableState{6, "9-17", true, at(17, 0)}},
		"an override that ends after the window":               {&Override{6, at(22, 0)}, nil, at(16, 0), comparableState{6, "9-17", true, at(17, 0)}},
		"the last window before the override's end":            {&Override{6, at(22, 0)}, nil, at(21, 0), comparableState{6, "default", true, at(22, 0)}},
		"a nanosecond before the override's end":               {&Override{6, at(22, 0)}, nil, at(22, 0).Add(-1), comparableState{6, "default", true, at(22, 0)}},
		"exactly at the override's end":                        {&Override{6, at(22, 0)}, nil, at(22, 0), comparableState{1, "default", false, at(33, 0)}},
		"an expired override":                                  {&Override{6, at(22, 0)}, nil, at(34, 0), comparableState{5, "9-17", false, at(41, 0)}},
		"an override with fewer replicas":                      {&Override{0, at(22, 0)}, nil, at(16, 0), comparableState{0, "9-17", true, at(17, 0)}},
		"an override with the scheduled number of replicas":    {&Override{5, at(16, 30)}, nil, at(16, 0), comparableState{5, "9-17", true, at(16, 30)}},
		"an override for years":                                {&Override{6, at(50000, 0)}, nil, at(16, 0), comparableState{6, "9-17", true, at(17, 0)}},
		"an override of a schedule that never changes":         {&Override{6, at(22, 0)}, allDay(), at(16, 0), comparableState{6, "0-24", true, at(22, 0)}},
		"an expired override of a schedule that never changes": {&Override{6, at(22, 0)}, allDay(), at(22, 0), comparableState{5, "0-24", false, time.Time{}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := test.tdset
			if tdset == nil {
				tdset = aTDSet()
			}
			found, err := At(&tdset.Spec, test.override, test.instant)
			noError(t, err)
			got := comparableState{found.Replicas, schedule.Name(&tdset.Spec, found.Window), found.Overridden, found.Next}
			if got.next.Equal(test.want.next) {
				got.next = test.want.next
			}
			if got != test.want {
				t.Errorf("at %s At returned\n%s; want\n%s", clockTime(test.instant), got, test.want)
			}
		})
	}
	t.Run("an unknown time zone", func(t *testing.T) {
		tdset := aTDSet()
		tdset.Spec.TimeZone = "Europe/Atlantis"
		if _, err := At(&tdset.Spec, &Override{6, at(22, 0)}, at(16, 0)); err == nil {
			t.Error("At returned no error, want the one of schedule.At")
		}
	})
}

// TestNext checks that nothing changes from an instant to its Next, and that something changes at
// Next.
func TestNext(t *testing.T) {
	tdset := aTDSet()
	for _, end := range []time.Time{at(15, 0), at(16, 30), at(17, 0), at(22, 0), at(33, 0), at(40, 30)} {
		override := &Override{6, end}
		for instant := at(12, 0); instant.Before(at(48, 0)); {
			before, err := At(&tdset.Spec, override, instant)
			noError(t, err)
			if !before.Next.After(instant) {
				t.Fatalf("override until %s: at %s, Next is %s, want a later time",
					clockTime(end), clockTime(instant), clockTime(before.Next))
			}
			for ; instant.Before(before.Next); instant = instant.Add(time.Minute) {
				now, err := At(&tdset.Spec, override, instant)
				noError(t, err)
				if !same(before, now) {
					t.Fatalf("override until %s: the state changes at %s, before Next, which was %s",
						clockTime(end), clockTime(instant), clockTime(before.Next))
				}
			}
			after, err := At(&tdset.Spec, override, before.Next)
			noError(t, err)
			if same(before, after) {
				t.Fatalf("override until %s: the state doesn't change at Next, which was %s",
					clockTime(end), clockTime(before.Next))
			}
			instant = before.Next
		}
	}
}

func same(a, b State) bool {
	return a.Replicas == b.Replicas && a.Window == b.Window && a.Overridden == b.Overridden
}

func TestReconcile(t *testing.T) {
	for sentence, test := range map[string]struct {
		tdset    *schedulev2.TDSet // nil means one with the windows 9-17 and 17-21
		steps    []func(*program)
		want     []string // the events and the changes of the status, with their times
		requeued []string // when a RequeueAfter led to a call
	}{
		"no override": {
			steps:    steps(until(34, 0)),
			want:     []string{"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "09:00 9-17: 5"},
			requeued: []string{"17:00", "21:00", "09:00"},
		},
		"an override that ends after the last window": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(34, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "17:00 17-21: 6", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1", "09:00 9-17: 5",
			},
			requeued: []string{"17:00", "21:00", "22:00", "09:00"},
		},
		"an override that ends with a window": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T21:00:00Z"), until(22, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "17:00 17-21: 6", "21:00 OverrideEnded", "21:00 default: 1",
			},
			requeued: []string{"17:00", "21:00"},
		},
		"an override that ends in the middle of a second": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T16:30:00.5Z"), until(17, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30:00.5 OverrideEnded", "16:30:00.5 9-17: 5", "17:00 17-21: 3",
			},
			requeued: []string{"16:30:00.5", "17:00"},
		},
		"an override with the scheduled number of replicas": {
			steps:    steps(until(16, 0), annotate("5 until 2026-01-01T16:30:00Z"), until(16, 45)),
			want:     []string{"12:00 9-17: 5", "16:00 OverrideBegan", "16:30 OverrideEnded"},
			requeued: []string{"16:30"},
		},
		"an override of a schedule that never changes": {
			tdset:    allDay(),
			steps:    steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(34, 0)),
			want:     []string{"12:00 0-24: 5", "16:00 OverrideBegan", "16:00 0-24: 6", "22:00 OverrideEnded", "22:00 0-24: 5"},
			requeued: []string{"22:00"},
		},
		"an override that is extended and increased": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30),
				annotate("8 until 2026-01-01T23:00:00Z"), until(24, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6", "21:30 default: 8",
				"23:00 OverrideEnded", "23:00 default: 1",
			},
			requeued: []string{"17:00", "21:00", "23:00"},
		},
		"an override that is removed before its end": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(16, 30), removeOverride, until(18, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30 OverrideEnded", "16:30 9-17: 5", "17:00 17-21: 3",
			},
			requeued: []string{"17:00"},
		},
		"an override that has already expired": {
			steps:    steps(until(16, 0), annotate("6 until 2026-01-01T15:00:00Z"), until(18, 0)),
			want:     []string{"12:00 9-17: 5", "17:00 17-21: 3"},
			requeued: []string{"17:00"},
		},
		"events that change nothing": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), label, until(21, 30), label, until(22, 0), label, label),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			requeued: []string{"17:00", "21:00", "22:00"},
		},
		"the program restarts during the override, and after it": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30), restart,
				until(22, 30), restart, until(23, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			requeued: []string{"17:00", "21:00", "22:00"},
		},
		"the program is down when the override ends": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), stop, until(22, 30), restart),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:30 OverrideEnded", "22:30 default: 1",
			},
			requeued: []string{"17:00", "21:00"},
		},
		"the program is down during the whole override": {
			steps:    steps(until(21, 0), stop, annotate("6 until 2026-01-01T22:00:00Z"), until(22, 30), restart),
			want:     []string{"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1"},
			requeued: []string{"17:00", "21:00"},
		},
		"the status can't be written for a minute": {
			steps: steps(until(21, 0), breakWrites, annotate("6 until 2026-01-01T22:00:00Z"), until(21, 1), fixWrites, label,
				until(22, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:01 OverrideBegan", "21:01 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			requeued: []string{"17:00", "21:00", "22:00"},
		},
		"an invalid override": {
			steps:    steps(until(16, 0), annotate("6 until tonight"), label, until(18, 0), restart),
			want:     []string{"12:00 9-17: 5", "16:00 OverrideInvalid", "17:00 17-21: 3"},
			requeued: []string{"17:00"},
		},
		"two invalid overrides, and then a valid one": {
			steps: steps(until(21, 0), annotate("6 until tonight"), annotate("6 until 22:00"), annotate("6 until 2026-01-01T22:00:00Z"),
				until(22, 30)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideInvalid", "21:00 OverrideInvalid",
				"21:00 OverrideBegan", "21:00 default: 6", "22:00 OverrideEnded", "22:00 default: 1",
			},
			requeued: []string{"17:00", "21:00", "22:00"},
		},
		"an override that becomes invalid while it is in force": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30), annotate("6 until later"), until(22, 30)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"21:30 OverrideEnded", "21:30 OverrideInvalid", "21:30 default: 1",
			},
			requeued: []string{"17:00", "21:00"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := test.tdset
			if tdset == nil {
				tdset = aTDSet()
			}
			p := newProgram(t, tdset)
			restart(p)
			for _, step := range test.steps {
				step(p)
			}
			if diff := cmp.Diff(test.want, p.seen); diff != "" {
				t.Errorf("the events and the changes of the status differ (-want +got):\n%s", diff)
			}
			if !slices.Equal(p.requeued, test.requeued) {
				t.Errorf("RequeueAfter led to calls at %v, want %v", p.requeued, test.requeued)
			}
		})
	}
}

// TestRequeueAfter calls Reconcile once, without the event that its own write causes.
func TestRequeueAfter(t *testing.T) {
	for sentence, test := range map[string]struct {
		writeTakes time.Duration
		want       time.Duration // the expected RequeueAfter; -1 means at most a second
	}{
		"a write takes no time":                {0, time.Hour},
		"a write takes 40 seconds":             {40 * time.Second, time.Hour - 40*time.Second},
		"a write ends when the override does":  {time.Hour, -1},
		"a write ends after the override does": {2 * time.Hour, -1},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newProgram(t, aTDSet())
			p.clock.SetTime(at(21, 0))
			p.store(func(tdset *schedulev2.TDSet) {
				tdset.Annotations = map[string]string{Annotation: "6 until 2026-01-01T22:00:00Z"}
			})
			p.writeTakes = test.writeTakes
			result, err := p.reconciler().Reconcile(t.Context(), key)
			noError(t, err)
			pause := result.RequeueAfter
			switch {
			case pause <= 0:
				t.Errorf("at %s RequeueAfter is %v, which means never, but the override ends at 22:00", clockTime(p.clock.Now()), pause)
			case test.want > 0 && pause != test.want, test.want < 0 && pause > time.Second:
				t.Errorf("at %s RequeueAfter is %v, so the next call is at %s, but the override ends at 22:00",
					clockTime(p.clock.Now()), pause, clockTime(p.clock.Now().Add(pause)))
			}
		})
	}
}

// program simulates the program and its queue, with an API server and a clock.
type program struct {
	*testing.T
	clock      *clocktesting.FakeClock
	server     client.WithWatch
	recorder   *events.FakeRecorder
	running    *Reconciler   // nil while the program is down
	due        time.Time     // when RequeueAfter is over; zero means never
	writeTakes time.Duration // how long a write of the status takes
	writeFails error         // the error that it returns, if any

	seen     []string // the events and the changes of the status, with their times
	last     string   // the latest state in the status
	requeued []string // when a RequeueAfter led to a call
}

var key = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "web"}}

func newProgram(t *testing.T, tdset *schedulev2.TDSet) *program {
	kinds := runtime.NewScheme()
	noError(t, schedulev2.AddToScheme(kinds))
	return &program{
		T:        t,
		clock:    clocktesting.NewFakeClock(at(12, 0)),
		server:   fake.NewClientBuilder().WithScheme(kinds).WithStatusSubresource(tdset).WithObjects(tdset).Build(),
		recorder: events.NewFakeRecorder(1000),
	}
}

func (p *program) reconciler() *Reconciler {
	api := interceptor.NewClient(p.server, interceptor.Funcs{
		SubResourceUpdate: func(ctx context.Context, server client.Client, name string, object client.Object,
			opts ...client.SubResourceUpdateOption,
		) error {
			p.clock.Step(p.writeTakes)
			if p.writeFails != nil {
				return p.writeFails
			}
			return server.SubResource(name).Update(ctx, object, opts...)
		},
	})
	return &Reconciler{Client: api, Recorder: p.recorder, Clock: p.clock}
}

// reconcile calls Reconcile, and again for each event that its own writes cause.
func (p *program) reconcile() {
	p.Helper()
	if p.running == nil {
		return
	}
	for range 5 {
		before := p.stored().ResourceVersion
		result, err := p.running.Reconcile(p.Context(), key)
		p.observe()
		switch {
		case err != nil && p.writeFails == nil:
			p.Fatalf("at %s Reconcile returned an error, so it is retried again and again: %v", clockTime(p.clock.Now()), err)
		case err == nil && p.writeFails != nil:
			p.Fatalf("at %s the status wasn't written, but Reconcile returned no error, so there is no retry", clockTime(p.clock.Now()))
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
	p.Helper()
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
	p.Helper()
	tdset := &schedulev2.TDSet{}
	noError(p.T, p.server.Get(p.Context(), key.NamespacedName, tdset))
	return tdset
}

// store changes the TDSet, as a user would.
func (p *program) store(change func(*schedulev2.TDSet)) {
	p.Helper()
	tdset := p.stored()
	change(tdset)
	noError(p.T, p.server.Update(p.Context(), tdset))
}

func steps(steps ...func(*program)) []func(*program) { return steps }

// until lets time pass until that hour and minute of the first day.
func until(hour, minute int) func(*program) {
	return func(p *program) {
		end := at(hour, minute)
		for p.running != nil && !p.due.IsZero() && !p.due.After(end) {
			if p.requeued = append(p.requeued, clockTime(p.due)); len(p.requeued) > 100 {
				p.Fatalf("RequeueAfter led to more than 100 calls, at %v …", p.requeued[:8])
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
		p.reconcile()
	}
}

func removeOverride(p *program) {
	p.store(func(tdset *schedulev2.TDSet) { tdset.Annotations = nil })
	p.reconcile()
}

// label changes something that Reconcile ignores.
func label(p *program) {
	p.store(func(tdset *schedulev2.TDSet) { tdset.Labels = map[string]string{"changed": tdset.ResourceVersion} })
	p.reconcile()
}

func stop(p *program) { p.running, p.due = nil, time.Time{} }

// restart starts the program, which reconciles every TDSet.
func restart(p *program) {
	p.running = p.reconciler()
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
	switch {
	case instant.IsZero():
		return "never"
	case instant.Truncate(time.Minute).Equal(instant):
		return instant.UTC().Format("15:04")
	}
	return instant.UTC().Format("15:04:05.999999999")
}

// comparableState is a State that is easy to compare and to print.
type comparableState struct {
	replicas   int32
	window     string
	overridden bool
	next       time.Time
}

func (w comparableState) String() string {
	next := "never"
	if !w.next.IsZero() {
		next = w.next.UTC().Format(time.RFC3339Nano)
	}
	return fmt.Sprintf("%d replicas, window %s, overridden: %v, next: %s", w.replicas, w.window, w.overridden, next)
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

func allDay() *schedulev2.TDSet {
	tdset := aTDSet()
	tdset.Spec.Windows = []schedulev2.Window{schedulev2.Window{Name: "0-24", Start: "00:00", End: "24:00", Replicas: 5}}
	return tdset
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
