//go:build check || solution

// These tests check what Parse, At and Reconcile promise. They call Reconcile as the queue would:
// after an event, which includes those of its own writes, and when its RequeueAfter is over. They
// set the clock from one such instant to the next, so a night takes no time.
//
// As given, Parse accepts invalid overrides, each override ends too late, and Reconcile reports its
// beginning again and again. `workshop test` checks these failures:
//
// fails: TestParse/too many
// says: is taken for 1001 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/fewer than none
// says: is taken for -1 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/more than 32 bits have
// says: is taken for 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/a half one
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/a number in words
// says: is taken for 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no number
// says: is taken for 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/no end
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end in words
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end without a date
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end without an offset
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an end that there isn't
// says: is taken for 6 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/something after it
// says: is taken for 6 replicas until 2026-01-01T22:00:00Z, want an error
//
// fails: TestParse/something before it
// says: is taken for 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/an annotation without one
// says: is taken for 0 replicas until 0001-01-01T00:00:00Z, want an error
//
// fails: TestParse/there is no annotation
// says: it returned 0 replicas until 0001-01-01T00:00:00Z and the error <nil>, want neither
//
// fails: TestAt/it ends before the window does
// says: 6 replicas, window 9-17, overridden: true, next: 2026-01-01T17:00:00Z; want
//
// fails: TestAt/it is in its last window
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/it ends in an instant
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/it ends now
// says: 6 replicas, window default, overridden: true, next: 2026-01-02T09:00:00Z; want
//
// fails: TestAt/it is for as many as there would be
// says: 5 replicas, window 9-17, overridden: true, next: 2026-01-01T17:00:00Z; want
//
// fails: TestAt/the schedule never changes
// says: 6 replicas, window 0-24, overridden: true, next: never; want
//
// fails: TestAt/it is over, and nothing ever changes
// says: 6 replicas, window 0-24, overridden: true, next: never; want
//
// fails: TestNext
// says: override until 15:00: something changes at 15:01, and before that the next instant that matters was 17:00
//
// fails: TestReconcile/somebody has to get through tonight
// says: the time brought it at [17:00 21:00 09:00], want at [17:00 21:00 22:00 09:00]
//
// fails: TestReconcile/it ends with a window
// says: "21:00 OverrideEnded"
//
// fails: TestReconcile/it ends between two seconds
// says: the time brought it at [17:00], want at [16:30:00.5 17:00]
//
// fails: TestReconcile/it is for as many as there are
// says: the time brought it at [], want at [16:30]
//
// fails: TestReconcile/the schedule never changes
// says: the time brought it at [], want at [22:00]
//
// fails: TestReconcile/it is longer and higher after a while
// says: the time brought it at [17:00 21:00], want at [17:00 21:00 23:00]
//
// fails: TestReconcile/it is removed before its end
// says: "16:30 OverrideEnded"
//
// fails: TestReconcile/events bring it all the time
// says: the time brought it at [17:00 21:00], want at [17:00 21:00 22:00]
//
// fails: TestReconcile/the program restarts
// says: the time brought it at [17:00 21:00], want at [17:00 21:00 22:00]
//
// fails: TestReconcile/the program is down when it ends
// says: "22:30 OverrideEnded"
//
// fails: TestReconcile/the status can't be written for a minute
// says: the time brought it at [17:00 21:00], want at [17:00 21:00 22:00]
//
// fails: TestReconcile/it is none
// says: "16:00 OverrideInvalid"
//
// fails: TestReconcile/it is none, then another that is none, and then one
// says: the time brought it at [17:00 21:00], want at [17:00 21:00 22:00]
//
// fails: TestReconcile/one is in force, and made none
// says: "21:30 OverrideEnded"
//
// fails: TestComesAgain/a write takes no time
// says: it returned RequeueAfter 12h0m0s at 21:00, so it comes again at 09:00; the override ends at 22:00
//
// fails: TestComesAgain/a write takes 40 seconds
// says: it returned RequeueAfter 12h0m0s at 21:00:40, so it comes again at 09:00:40; the override ends at 22:00
//
// fails: TestComesAgain/a write ends when the override does
// says: it returned RequeueAfter 12h0m0s at 22:00, so it comes again at 10:00; the override ends at 22:00
//
// fails: TestComesAgain/a write ends after the override does
// says: it returned RequeueAfter 12h0m0s at 23:00, so it comes again at 11:00; the override ends at 22:00

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

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
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
		"as it should be":           {"6 until 2026-01-01T22:00:00Z", &Override{6, ten}},
		"with an offset":            {"6 until 2026-01-01T23:00:00+01:00", &Override{6, ten}},
		"none at all":               {"0 until 2026-01-01T22:00:00Z", &Override{0, ten}},
		"as many as there can be":   {"1000 until 2026-01-01T22:00:00Z", &Override{maxReplicas, ten}},
		"over since long":           {"6 until 1999-12-31T23:59:59Z", &Override{6, time.Date(1999, 12, 31, 23, 59, 59, 0, time.UTC)}},
		"too many":                  {"1001 until 2026-01-01T22:00:00Z", nil},
		"fewer than none":           {"-1 until 2026-01-01T22:00:00Z", nil},
		"more than 32 bits have":    {"4294967302 until 2026-01-01T22:00:00Z", nil},
		"a half one":                {"6.5 until 2026-01-01T22:00:00Z", nil},
		"a number in words":         {"six until 2026-01-01T22:00:00Z", nil},
		"no number":                 {"until 2026-01-01T22:00:00Z", nil},
		"no end":                    {"6", nil},
		"an end in words":           {"6 until tonight", nil},
		"an end without a date":     {"6 until 22:00", nil},
		"an end without an offset":  {"6 until 2026-01-01T22:00:00", nil},
		"an end that there isn't":   {"6 until 2026-02-30T22:00:00Z", nil},
		"something after it":        {"6 until 2026-01-01T22:00:00Z or so", nil},
		"something before it":       {"about 6 until 2026-01-01T22:00:00Z", nil},
		"an annotation without one": {"", nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := aTDSet()
			tdset.Annotations = map[string]string{Annotation: test.text}
			got, err := Parse(tdset)
			var wrong *field.Error
			switch {
			case errors.As(err, &wrong) && wrong == nil:
				t.Fatal("it returned a *field.Error that is nil, as an error: an interface with a nil pointer in it isn't nil")
			case test.want != nil && err != nil:
				t.Errorf("%q is refused: %v", test.text, err)
			case test.want != nil && (got == nil || got.Replicas != test.want.Replicas || !got.Until.Equal(test.want.Until)):
				t.Errorf("%q is %s, want %s", test.text, inWords(got), inWords(test.want))
			case test.want == nil && err == nil:
				t.Errorf("%q is taken for %s, want an error", test.text, inWords(got))
			}
			if test.want != nil || err == nil {
				return
			}
			if wrong == nil {
				t.Fatalf("it is refused without a field: %v", err)
			}
			if wrong.Field != annotationPath.String() || wrong.BadValue != test.text || wrong.Detail != format {
				t.Errorf("the user reads %q, want %q", wrong, field.Invalid(annotationPath, test.text, format))
			}
		})
	}
	t.Run("there is no annotation", func(t *testing.T) {
		if got, err := Parse(aTDSet()); got != nil || err != nil {
			t.Errorf("it returned %s and the error %v, want neither", inWords(got), err)
		}
	})
}

func TestAt(t *testing.T) {
	for sentence, test := range map[string]struct {
		override *Override
		tdset    *schedulev1.TDSet // nil means one with the windows 9-17 and 17-21
		instant  time.Time
		want     wanted
	}{
		"there is none":                        {nil, nil, at(16, 0), wanted{5, "9-17", false, at(17, 0)}},
		"it ends before the window does":       {&Override{6, at(16, 30)}, nil, at(16, 0), wanted{6, "9-17", true, at(16, 30)}},
		"it ends with the window":              {&Override{6, at(17, 0)}, nil, at(16, 0), wanted{6, "9-17", true, at(17, 0)}},
		"it ends after the window does":        {&Override{6, at(22, 0)}, nil, at(16, 0), wanted{6, "9-17", true, at(17, 0)}},
		"it is in its last window":             {&Override{6, at(22, 0)}, nil, at(21, 0), wanted{6, "default", true, at(22, 0)}},
		"it ends in an instant":                {&Override{6, at(22, 0)}, nil, at(22, 0).Add(-1), wanted{6, "default", true, at(22, 0)}},
		"it ends now":                          {&Override{6, at(22, 0)}, nil, at(22, 0), wanted{1, "default", false, at(33, 0)}},
		"it has ended":                         {&Override{6, at(22, 0)}, nil, at(34, 0), wanted{5, "9-17", false, at(41, 0)}},
		"it is for fewer":                      {&Override{0, at(22, 0)}, nil, at(16, 0), wanted{0, "9-17", true, at(17, 0)}},
		"it is for as many as there would be":  {&Override{5, at(16, 30)}, nil, at(16, 0), wanted{5, "9-17", true, at(16, 30)}},
		"it is for years":                      {&Override{6, at(50000, 0)}, nil, at(16, 0), wanted{6, "9-17", true, at(17, 0)}},
		"the schedule never changes":           {&Override{6, at(22, 0)}, allDay(), at(16, 0), wanted{6, "0-24", true, at(22, 0)}},
		"it is over, and nothing ever changes": {&Override{6, at(22, 0)}, allDay(), at(22, 0), wanted{5, "0-24", false, time.Time{}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			tdset := test.tdset
			if tdset == nil {
				tdset = aTDSet()
			}
			found, err := At(&tdset.Spec, test.override, test.instant)
			noError(t, err)
			got := wanted{found.Replicas, schedule.Name(&tdset.Spec, found.Window), found.Overridden, found.Next}
			if got.next.Equal(test.want.next) {
				got.next = test.want.next
			}
			if got != test.want {
				t.Errorf("at %s it returned\n%s; want\n%s", clockTime(test.instant), got, test.want)
			}
		})
	}
	t.Run("the zone isn't known", func(t *testing.T) {
		tdset := aTDSet()
		tdset.Spec.TimeZone = "Europe/Atlantis"
		if _, err := At(&tdset.Spec, &Override{6, at(22, 0)}, at(16, 0)); err == nil {
			t.Error("it returned no error, want schedule.At's")
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
				t.Fatalf("override until %s: at %s the next instant that matters is %s",
					clockTime(end), clockTime(instant), clockTime(before.Next))
			}
			for ; instant.Before(before.Next); instant = instant.Add(time.Minute) {
				now, err := At(&tdset.Spec, override, instant)
				noError(t, err)
				if !same(before, now) {
					t.Fatalf("override until %s: something changes at %s, and before that the next instant that matters was %s",
						clockTime(end), clockTime(instant), clockTime(before.Next))
				}
			}
			after, err := At(&tdset.Spec, override, before.Next)
			noError(t, err)
			if same(before, after) {
				t.Fatalf("override until %s: at %s nothing changes, and it was the next instant that matters",
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
		tdset *schedulev1.TDSet // nil means one with the windows 9-17 and 17-21
		steps []func(*program)
		want  []string // the events and the changes of the status, with their times
		came  []string // when a RequeueAfter led to a call
	}{
		"nobody overrides anything": {
			steps: steps(until(34, 0)),
			want:  []string{"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "09:00 9-17: 5"},
			came:  []string{"17:00", "21:00", "09:00"},
		},
		"somebody has to get through tonight": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(34, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "17:00 17-21: 6", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1", "09:00 9-17: 5",
			},
			came: []string{"17:00", "21:00", "22:00", "09:00"},
		},
		"it ends with a window": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T21:00:00Z"), until(22, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "17:00 17-21: 6", "21:00 OverrideEnded", "21:00 default: 1",
			},
			came: []string{"17:00", "21:00"},
		},
		"it ends between two seconds": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T16:30:00.5Z"), until(17, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30:00.5 OverrideEnded", "16:30:00.5 9-17: 5", "17:00 17-21: 3",
			},
			came: []string{"16:30:00.5", "17:00"},
		},
		"it is for as many as there are": {
			steps: steps(until(16, 0), annotate("5 until 2026-01-01T16:30:00Z"), until(16, 45)),
			want:  []string{"12:00 9-17: 5", "16:00 OverrideBegan", "16:30 OverrideEnded"},
			came:  []string{"16:30"},
		},
		"the schedule never changes": {
			tdset: allDay(),
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(34, 0)),
			want:  []string{"12:00 0-24: 5", "16:00 OverrideBegan", "16:00 0-24: 6", "22:00 OverrideEnded", "22:00 0-24: 5"},
			came:  []string{"22:00"},
		},
		"it is longer and higher after a while": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30),
				annotate("8 until 2026-01-01T23:00:00Z"), until(24, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6", "21:30 default: 8",
				"23:00 OverrideEnded", "23:00 default: 1",
			},
			came: []string{"17:00", "21:00", "23:00"},
		},
		"it is removed before its end": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(16, 30), takeAway, until(18, 0)),
			want: []string{
				"12:00 9-17: 5", "16:00 OverrideBegan", "16:00 9-17: 6", "16:30 OverrideEnded", "16:30 9-17: 5", "17:00 17-21: 3",
			},
			came: []string{"17:00"},
		},
		"it is over when it is seen first": {
			steps: steps(until(16, 0), annotate("6 until 2026-01-01T15:00:00Z"), until(18, 0)),
			want:  []string{"12:00 9-17: 5", "17:00 17-21: 3"},
			came:  []string{"17:00"},
		},
		"events bring it all the time": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), touch, until(21, 30), touch, until(22, 0), touch, touch),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			came: []string{"17:00", "21:00", "22:00"},
		},
		"the program restarts": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30), restart,
				until(22, 30), restart, until(23, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			came: []string{"17:00", "21:00", "22:00"},
		},
		"the program is down when it ends": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), stop, until(22, 30), restart),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"22:30 OverrideEnded", "22:30 default: 1",
			},
			came: []string{"17:00", "21:00"},
		},
		"the program is down all the while": {
			steps: steps(until(21, 0), stop, annotate("6 until 2026-01-01T22:00:00Z"), until(22, 30), restart),
			want:  []string{"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1"},
			came:  []string{"17:00", "21:00"},
		},
		"the status can't be written for a minute": {
			steps: steps(until(21, 0), breakWrites, annotate("6 until 2026-01-01T22:00:00Z"), until(21, 1), mendWrites, touch,
				until(22, 0)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:01 OverrideBegan", "21:01 default: 6",
				"22:00 OverrideEnded", "22:00 default: 1",
			},
			came: []string{"17:00", "21:00", "22:00"},
		},
		"it is none": {
			steps: steps(until(16, 0), annotate("6 until tonight"), touch, until(18, 0), restart),
			want:  []string{"12:00 9-17: 5", "16:00 OverrideInvalid", "17:00 17-21: 3"},
			came:  []string{"17:00"},
		},
		"it is none, then another that is none, and then one": {
			steps: steps(until(21, 0), annotate("6 until tonight"), annotate("6 until 22:00"), annotate("6 until 2026-01-01T22:00:00Z"),
				until(22, 30)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideInvalid", "21:00 OverrideInvalid",
				"21:00 OverrideBegan", "21:00 default: 6", "22:00 OverrideEnded", "22:00 default: 1",
			},
			came: []string{"17:00", "21:00", "22:00"},
		},
		"one is in force, and made none": {
			steps: steps(until(21, 0), annotate("6 until 2026-01-01T22:00:00Z"), until(21, 30), annotate("6 until later"), until(22, 30)),
			want: []string{
				"12:00 9-17: 5", "17:00 17-21: 3", "21:00 default: 1", "21:00 OverrideBegan", "21:00 default: 6",
				"21:30 OverrideEnded", "21:30 OverrideInvalid", "21:30 default: 1",
			},
			came: []string{"17:00", "21:00"},
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
				t.Errorf("this is to be seen (a line with - is missing, one with + is too much):\n%s", diff)
			}
			if !slices.Equal(p.came, test.came) {
				t.Errorf("the time brought it at %v, want at %v", p.came, test.came)
			}
		})
	}
}

// This calls Reconcile once, without the event that its own write causes.
func TestComesAgain(t *testing.T) {
	for sentence, test := range map[string]struct {
		takes time.Duration // how long a write takes
		want  time.Duration // the expected RequeueAfter; -1 means at most a second
	}{
		"a write takes no time":                {0, time.Hour},
		"a write takes 40 seconds":             {40 * time.Second, time.Hour - 40*time.Second},
		"a write ends when the override does":  {time.Hour, -1},
		"a write ends after the override does": {2 * time.Hour, -1},
	} {
		t.Run(sentence, func(t *testing.T) {
			p := newProgram(t, aTDSet())
			p.clock.SetTime(at(21, 0))
			p.store(func(tdset *schedulev1.TDSet) {
				tdset.Annotations = map[string]string{Annotation: "6 until 2026-01-01T22:00:00Z"}
			})
			p.takes = test.takes
			result, err := p.reconciler().Reconcile(t.Context(), key)
			noError(t, err)
			pause := result.RequeueAfter
			switch {
			case pause <= 0:
				t.Errorf("it returned RequeueAfter %v at %s, so it never comes again by itself", pause, clockTime(p.clock.Now()))
			case test.want > 0 && pause != test.want, test.want < 0 && pause > time.Second:
				t.Errorf("it returned RequeueAfter %v at %s, so it comes again at %s; the override ends at 22:00",
					pause, clockTime(p.clock.Now()), clockTime(p.clock.Now().Add(pause)))
			}
		})
	}
}

// program is the program with its queue, an API server and a clock.
type program struct {
	*testing.T
	clock    *clocktesting.FakeClock
	server   client.WithWatch
	recorder *events.FakeRecorder
	runs     *Reconciler   // nil while the program is down
	due      time.Time     // when RequeueAfter is over; zero means never
	takes    time.Duration // how long a write of the status takes
	broken   error         // the error that it returns, if any

	seen []string // the events and the changes of the status, with their times
	last string   // what the status said last
	came []string // when a RequeueAfter led to a call
}

var key = ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "default", Name: "web"}}

func newProgram(t *testing.T, tdset *schedulev1.TDSet) *program {
	kinds := runtime.NewScheme()
	noError(t, schedulev1.AddToScheme(kinds))
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
			p.clock.Step(p.takes)
			if p.broken != nil {
				return p.broken
			}
			return server.SubResource(name).Update(ctx, object, opts...)
		},
	})
	return &Reconciler{Client: api, Recorder: p.recorder, Clock: p.clock}
}

// bring calls Reconcile, and once more for each event that its own writes cause.
func (p *program) bring() {
	p.Helper()
	if p.runs == nil {
		return
	}
	for range 5 {
		before := p.stored().ResourceVersion
		result, err := p.runs.Reconcile(p.Context(), key)
		p.look()
		switch {
		case err != nil && p.broken == nil:
			p.Fatalf("%s it returned an error, so it is called again and again: %v", clockTime(p.clock.Now()), err)
		case err == nil && p.broken != nil:
			p.Fatalf("%s the status wasn't written, and it returned no error: nobody tries again", clockTime(p.clock.Now()))
		}
		p.due = time.Time{}
		if result.RequeueAfter > 0 {
			p.due = p.clock.Now().Add(result.RequeueAfter)
		}
		if p.stored().ResourceVersion == before {
			return
		}
	}
	p.Fatalf("%s it writes whenever it is called, and each write brings it here again", clockTime(p.clock.Now()))
}

// look adds new events and changes of the status to seen.
func (p *program) look() {
	p.Helper()
	now := clockTime(p.clock.Now())
	for len(p.recorder.Events) > 0 {
		words := strings.SplitN(<-p.recorder.Events, " ", 3) // type, reason, note
		p.seen = append(p.seen, now+" "+words[1])
		warns := words[1] == "OverrideInvalid"
		if (words[0] == "Warning") != warns {
			p.Errorf("%s the event %s is of the type %s", now, words[1], words[0])
		}
		if warns && !strings.Contains(words[2], annotationPath.String()) {
			p.Errorf("%s the event %s doesn't name the field: %s", now, words[1], words[2])
		}
	}
	status := p.stored().Status
	if status.DesiredReplicas == nil {
		return
	}
	if says := fmt.Sprintf("%s: %d", status.ActiveWindow, *status.DesiredReplicas); says != p.last {
		p.seen, p.last = append(p.seen, now+" "+says), says
	}
}

func (p *program) stored() *schedulev1.TDSet {
	p.Helper()
	tdset := &schedulev1.TDSet{}
	noError(p.T, p.server.Get(p.Context(), key.NamespacedName, tdset))
	return tdset
}

// store changes the TDSet, as a user would.
func (p *program) store(change func(*schedulev1.TDSet)) {
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
		for p.runs != nil && !p.due.IsZero() && !p.due.After(end) {
			if p.came = append(p.came, clockTime(p.due)); len(p.came) > 100 {
				p.Fatalf("the time brings it again and again: at %v …", p.came[:8])
			}
			p.clock.SetTime(p.due)
			p.bring()
		}
		p.clock.SetTime(end)
	}
}

func annotate(text string) func(*program) {
	return func(p *program) {
		p.store(func(tdset *schedulev1.TDSet) { tdset.Annotations = map[string]string{Annotation: text} })
		p.bring()
	}
}

func takeAway(p *program) {
	p.store(func(tdset *schedulev1.TDSet) { tdset.Annotations = nil })
	p.bring()
}

// touch changes something that Reconcile ignores.
func touch(p *program) {
	p.store(func(tdset *schedulev1.TDSet) { tdset.Labels = map[string]string{"touched": tdset.ResourceVersion} })
	p.bring()
}

func stop(p *program) { p.runs, p.due = nil, time.Time{} }

// restart starts the program, which reconciles every TDSet.
func restart(p *program) {
	p.runs = p.reconciler()
	p.bring()
}

func breakWrites(p *program) { p.broken = errors.New("the disk is full") }
func mendWrites(p *program)  { p.broken = nil }

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

// wanted is a State that is easy to compare and to print.
type wanted struct {
	replicas   int32
	window     string
	overridden bool
	next       time.Time
}

func (w wanted) String() string {
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

func aTDSet() *schedulev1.TDSet {
	return &schedulev1.TDSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of web", Generation: 1},
		Spec: schedulev1.TDSetSpec{
			SchedulingConfig: []schedulev1.Scheduling{{StartTime: 9, EndTime: 17, Replica: 5}, {StartTime: 17, EndTime: 21, Replica: 3}},
			DefaultReplica:   1,
		},
	}
}

func allDay() *schedulev1.TDSet {
	tdset := aTDSet()
	tdset.Spec.SchedulingConfig = []schedulev1.Scheduling{{StartTime: 0, EndTime: 24, Replica: 5}}
	return tdset
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
