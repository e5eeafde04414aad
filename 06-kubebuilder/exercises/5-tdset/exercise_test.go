//go:build check || solution

// The first tests are about the CRD: what kubectl shows of a TDSet, and which TDSets the API server
// accepts. The others are about the validator: judge by itself, and then the webhook. crd_test.go
// has controller-gen and the API server as functions.
//
// As given, the CRD has only what follows from the Go types, and the validator accepts everything.
// `workshop test` checks these failures:
//
// fails: TestCRD/the short name is tds
// says: the short names are [], want tds
//
// fails: TestCRD/kubectl get shows the columns Ready, Message and Age
// says: ["Ready: True" "Message: from hour 9 to 17" "Age: 2026-01-01T08:59:50Z"]
//
// fails: TestCRD/the status is a subresource
// says: the status isn't a subresource
//
// fails: TestAccepted/defaultReplica is optional and 1 by default
// says: it is refused: spec.defaultReplica: Required value
//
// fails: TestRefused/a name with more than 63 characters
// says: a name with 64 characters: it is accepted, want an error that names metadata.name
//
// fails: TestRefused/a port out of range
// says: the container's port 0: it is accepted, want an error that names spec.container.port
//
// fails: TestRefused/an image that is empty or too long
// says: an empty image: it is accepted, want an error that names spec.container.image
//
// fails: TestRefused/a number of replicas out of range
// says: defaultReplica 0: it is accepted, want an error that names spec.defaultReplica
//
// fails: TestRefused/an interval out of range
// says: an interval of 0 minutes: it is accepted, want an error that names spec.intervalMint
//
// fails: TestRefused/a startTime that isn't an hour from 0 to 23
// says: a window from 24 to 0: it is accepted, want an error that names spec.schedulingConfig[0]
//
// fails: TestRefused/an endTime that isn't an hour from 0 to 24
// says: a window from 7 to 25: it is accepted, want an error that names spec.schedulingConfig[0]
//
// fails: TestRefused/a window with equal start and end
// says: a window from 0 to 0: it is accepted, want an error that names spec.schedulingConfig[0]
//
// fails: TestRefused/two windows with the same hours
// says: 19 to 0, and 19 to 24: it is accepted, want an error that names spec.schedulingConfig
//
// fails: TestRefused/more than 24 windows
// says: a schedule with 25 windows: it is accepted, want an error that names spec.schedulingConfig
//
// fails: TestJudge
// says: judge returned no warning for a schedule without windows, want one
//
// fails: TestValidator
// says: ValidateCreate returned no warning for a TDSet without windows, want one

package main

import (
	"context"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestCRD(t *testing.T) {
	s, err := newServer()
	if err != nil {
		t.Fatal(err)
	}
	for sentence, test := range map[string]func(t *testing.T){
		"controller-gen knows every marker": func(t *testing.T) {
			unknown, err := unknownMarkers()
			if err != nil {
				t.Fatal(err)
			}
			for _, marker := range unknown {
				t.Errorf("%s: no generator knows this marker, so it does nothing: is it misspelled?", marker)
			}
		},
		"the short name is tds": func(t *testing.T) {
			if got := s.crd.Spec.Names.ShortNames; !slices.Equal(got, []string{"tds"}) {
				t.Errorf("the short names are %q, want tds", got)
			}
		},
		"kubectl get shows the columns Ready, Message and Age": func(t *testing.T) {
			object := tdset(nil)
			object["metadata"].(map[string]any)["creationTimestamp"] = "2026-01-01T08:59:50Z"
			object["status"] = map[string]any{"conditions": []any{
				map[string]any{"type": "Blessed", "status": "Unknown", "message": "by somebody"},
				map[string]any{"type": "Ready", "status": "True", "message": "from hour 9 to 17"},
			}}
			want := []string{"Ready: True", "Message: from hour 9 to 17", "Age: 2026-01-01T08:59:50Z"}
			if got := s.columns(t, object); !slices.Equal(got, want) {
				t.Errorf("the columns after the name are\n%q, want\n%q", got, want)
			}
		},
		"the status is a subresource": func(t *testing.T) {
			if sub := s.crd.Spec.Versions[0].Subresources; sub == nil || sub.Status == nil {
				t.Error("the status isn't a subresource: a write of the TDSet also changes the status, and the controller's writes of the status get a 404")
			}
		},
	} {
		t.Run(sentence, test)
	}
}

// columns returns the columns that `kubectl get` shows for an object.
func (s *server) columns(t *testing.T, object map[string]any) (all []string) {
	t.Helper()
	for _, column := range s.crd.Spec.Versions[0].AdditionalPrinterColumns {
		path := jsonpath.New(column.Name).AllowMissingKeys(true)
		var cell strings.Builder
		if err := path.Parse("{" + column.JSONPath + "}"); err != nil {
			t.Fatalf("column %s: %v", column.Name, err)
		}
		if err := path.Execute(&cell, object); err != nil {
			t.Fatalf("column %s: %v", column.Name, err)
		}
		all = append(all, column.Name+": "+cell.String())
	}
	return all
}

func TestAccepted(t *testing.T) {
	s := theServer(t)
	for sentence, each := range map[string]map[string]map[string]any{
		"the example": {"manifests/tdset.yaml": tdset(nil)},
		"windows within a day, up to midnight, and past it": {
			"0 to 24":  tdset(windows("0-24")),
			"19 to 24": tdset(windows("19-24")),
			"19 to 0":  tdset(windows("19-0")),
			"22 to 6":  tdset(windows("22-6")),
			"23 to 0":  tdset(windows("23-0")),
		},
		"windows that overlap without being equal": {
			"8 to 12, and 10 to 14": tdset(windows("8-12", "10-14")),
			"9 to 12, and 9 to 17":  tdset(windows("9-12", "9-17")),
			"9 to 17, and 12 to 17": tdset(windows("9-17", "12-17")),
			"9 to 17, and 17 to 9":  tdset(windows("9-17", "17-9")),
		},
		"0 to 24 windows": {
			"no windows": tdset(windows()),
			"24 windows": tdset(windows(hours(24)...)),
		},
		"the smallest and largest valid values": {
			"no replicas in a window":      tdset(inWindow("replica", 0)),
			"1000 replicas in a window":    tdset(inWindow("replica", 1000)),
			"defaultReplica 1":             tdset(set(1, "defaultReplica")),
			"defaultReplica 1000":          tdset(set(1000, "defaultReplica")),
			"port 1":                       tdset(all(set(1, "container", "port"), set(1, "service", "port"))),
			"port 65535":                   tdset(all(set(65535, "container", "port"), set(65535, "service", "port"))),
			"an interval of 1 minute":      tdset(set(1, "intervalMint")),
			"an interval of 1440 minutes":  tdset(set(1440, "intervalMint")),
			"an image with 512 characters": tdset(set(strings.Repeat("i", 512), "container", "image")),
			"a name with 63 characters":    named(63),
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			for what, object := range each {
				sent := runtime.DeepCopyJSON(object)
				if refused := s.create(t.Context(), object); len(refused) > 0 {
					t.Errorf("%s: it is refused: %v", what, refused.ToAggregate())
				} else if difference := cmp.Diff(sent, object); difference != "" {
					t.Errorf("%s: the stored object differs (-sent +stored):\n%s", what, difference)
				}
			}
		})
	}
	t.Run("defaultReplica is optional and 1 by default", func(t *testing.T) {
		object := tdset(drop("defaultReplica"))
		if refused := s.create(t.Context(), object); len(refused) > 0 {
			t.Errorf("it is refused: %v", refused.ToAggregate())
		} else if got := object["spec"].(map[string]any)["defaultReplica"]; got != int64(1) {
			t.Errorf("defaultReplica is stored as %v, want 1", got)
		}
	})
}

func TestRefused(t *testing.T) {
	s := theServer(t)
	const first, second = "spec.schedulingConfig[0]", "spec.schedulingConfig[1]"
	for sentence, test := range map[string]struct {
		// says lists words that the message must contain. If it is empty, any message is right.
		says []string
		// each is a list of objects that must be refused.
		each []attempt
	}{
		"a name with more than 63 characters": {[]string{"63"}, []attempt{
			{"a name with 64 characters", named(64), "metadata.name"},
		}},
		"a port out of range": {nil, []attempt{
			{"the container's port 0", tdset(set(0, "container", "port")), "spec.container.port"},
			{"the container's port 65536", tdset(set(65536, "container", "port")), "spec.container.port"},
			{"the Service's port 0", tdset(set(0, "service", "port")), "spec.service.port"},
			{"the Service's port 65536", tdset(set(65536, "service", "port")), "spec.service.port"},
		}},
		"an image that is empty or too long": {nil, []attempt{
			{"an empty image", tdset(set("", "container", "image")), "spec.container.image"},
			{"an image with 513 characters", tdset(set(strings.Repeat("i", 513), "container", "image")), "spec.container.image"},
		}},
		"a number of replicas out of range": {nil, []attempt{
			{"-1 replicas in a window", tdset(inWindow("replica", -1)), first + ".replica"},
			{"1001 replicas in a window", tdset(inWindow("replica", 1001)), first + ".replica"},
			{"defaultReplica 0", tdset(set(0, "defaultReplica")), "spec.defaultReplica"},
			{"defaultReplica 1001", tdset(set(1001, "defaultReplica")), "spec.defaultReplica"},
		}},
		"an interval out of range": {nil, []attempt{
			{"an interval of 0 minutes", tdset(set(0, "intervalMint")), "spec.intervalMint"},
			{"an interval of 1441 minutes", tdset(set(1441, "intervalMint")), "spec.intervalMint"},
		}},
		"a startTime that isn't an hour from 0 to 23": {nil, []attempt{
			{"a window from 24 to 24", tdset(windows("24-24")), first},
			{"a window from 24 to 0", tdset(windows("24-0")), first},
			{"a window from 24 to 7", tdset(windows("24-7")), first},
			{"a window from -1 to 7", tdset(windows("-1-7")), first},
			{"a window from 9.5", tdset(inWindow("startTime", 9.5)), first},
		}},
		"an endTime that isn't an hour from 0 to 24": {nil, []attempt{
			{"a window from 7 to 25", tdset(windows("7-25")), first},
			{"a window from 7 to -1", tdset(windows("7--1")), first},
		}},
		"a window with equal start and end": {[]string{"startTime", "endTime", "24"}, []attempt{
			{"a window from 0 to 0", tdset(windows("0-0")), first},
			{"a second window from 9 to 9", tdset(windows("19-0", "9-9")), second},
		}},
		"two windows with the same hours": {[]string{"startTime", "endTime"}, []attempt{
			{"9 to 17, and 9 to 17", tdset(windows("9-17", "9-17")), "spec.schedulingConfig"},
			{"9 to 17, 7 to 9, and 9 to 17", tdset(windows("9-17", "7-9", "9-17")), "spec.schedulingConfig"},
			{"19 to 0, and 19 to 24", tdset(windows("19-0", "19-24")), "spec.schedulingConfig"},
			{"the same hours with different replicas", tdset(all(windows("9-17", "9-17"), inWindow("replica", 0))), "spec.schedulingConfig"},
		}},
		"more than 24 windows": {nil, []attempt{
			{"a schedule with 25 windows", tdset(windows(append(hours(24), "0-2")...)), "spec.schedulingConfig"},
		}},
		"a missing required field": {nil, []attempt{
			{"no spec", map[string]any{"apiVersion": "schedule.rs/v1", "kind": "TDSet", "metadata": map[string]any{"name": "a"}}, "spec"},
			{"no container", tdset(drop("container")), "spec.container"},
			{"no image", tdset(drop("container", "image")), "spec.container.image"},
			{"no port", tdset(drop("container", "port")), "spec.container.port"},
			{"a Service without a port", tdset(set(map[string]any{}, "service")), "spec.service.port"},
			{"no schedulingConfig", tdset(drop("schedulingConfig")), "spec.schedulingConfig"},
			{"a window without a start", tdset(inWindow("startTime", nil)), first + ".startTime"},
			{"a window without an end", tdset(inWindow("endTime", nil)), first + ".endTime"},
			{"a window without a number of replicas", tdset(inWindow("replica", nil)), first + ".replica"},
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			for _, attempt := range test.each {
				refused := s.create(t.Context(), attempt.object)
				if len(refused) == 0 {
					t.Errorf("%s: it is accepted, want an error that names %s", attempt.what, attempt.at)
					continue
				}
				text := refused.ToAggregate().Error()
				ownWords := len(test.says) == 0 || !strings.Contains(text, "failed rule")
				if !slices.ContainsFunc(refused, func(r *field.Error) bool { return names(r, attempt.at) }) {
					t.Errorf("%s: it is refused:\n%s\nwant an error that names %s", attempt.what, text, attempt.at)
				} else if !ownWords || !containsAll(text, test.says) {
					t.Errorf("%s: it is refused:\n%s\nwant a message in the marker, which contains the words %q", attempt.what, text, test.says)
				}
			}
		})
	}
}

// attempt is an object that must be refused, and the field that the error must name. The field may
// also be one inside it.
type attempt struct {
	what   string
	object map[string]any
	at     string
}

// names reports whether an error names a field, or one inside it: by its path or, if the rule is
// about the whole object, in its message.
func names(r *field.Error, at string) bool {
	rest, found := strings.CutPrefix(r.Field, at)
	return found && (rest == "" || strings.ContainsAny(rest[:1], ".[")) ||
		(r.Field == "" || r.Field == "<nil>") && strings.Contains(r.Detail, at)
}

func containsAll(text string, words []string) bool {
	return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
}

// warning is an expected warning: the field that it begins with, and words that follow.
type warning struct {
	at   string
	says []string
}

// gap returns the warning about hours in no window.
func gap(hours ...string) warning {
	return warning{"spec.schedulingConfig", append(hours, "defaultReplica")}
}

func (w warning) String() string {
	return fmt.Sprintf("%s: … %s", w.at, strings.Join(w.says, " … "))
}

func (w warning) matches(text string) bool {
	rest, found := strings.CutPrefix(text, w.at+": ")
	return found && containsAll(rest, w.says)
}

func TestJudge(t *testing.T) {
	defer noPanic(t)
	if warnings, refused := judge(TDSetSpec{}); len(warnings)+len(refused) == 0 {
		t.Fatal("judge returned no warning for a schedule without windows, want one") // the other cases would fail, too
	}
	const first, second, third = "spec.schedulingConfig[0]", "spec.schedulingConfig[1]", "spec.schedulingConfig[2]"
	for sentence, test := range map[string]struct {
		windows  []Scheduling
		warnings []warning
		refused  []string // the fields
	}{
		"one window for the whole day":            {parse("0-24"), nil, nil},
		"consecutive windows without a gap":       {parse("9-17", "17-9"), nil, nil},
		"the example: the hour 0 is in no window": {parse("9-17", "17-19", "19-0", "1-7", "7-9"), []warning{gap("0 to 1")}, nil},
		"two gaps: one warning":                   {parse("1-9", "10-24"), []warning{gap("0 to 1", "9 to 10")}, nil},
		"no windows: all hours are in no window":  {nil, []warning{gap("0 to 24")}, nil},
		"an overlap":                              {parse("0-12", "10-24"), []warning{{second, []string{first, "10 to 12"}}}, nil},
		"an overlap past midnight":                {parse("22-6", "5-23"), []warning{{second, []string{first, "5 to 6", "22 to 23"}}}, nil},
		"a window inside the next one":            {parse("9-17", "0-24"), []warning{{second, []string{first, "9 to 17"}}}, nil},
		"an overlap, and hours in no window": {parse("8-12", "10-14"), []warning{
			{second, []string{first, "10 to 12"}}, gap("0 to 8", "14 to 24"),
		}, nil},
		"a window that overlaps two earlier ones: two warnings": {parse("0-10", "20-24", "8-22"), []warning{
			{third, []string{first, "8 to 10"}}, {third, []string{second, "20 to 22"}},
		}, nil},
		"an hour in three windows belongs to the first": {parse("0-12", "10-16", "11-24"), []warning{
			{second, []string{first, "10 to 12"}}, {third, []string{first, "11 to 12"}}, {third, []string{second, "12 to 16"}},
		}, nil},
		"a window inside the previous one":     {parse("0-24", "9-17"), nil, []string{second}},
		"a window covered by two earlier ones": {parse("0-12", "12-24", "9-17"), nil, []string{third}},
		"the same hours twice, with 0 for 24":  {parse("19-0", "19-24", "0-19"), nil, []string{second}},
		"two windows that are never active":    {parse("0-24", "9-17", "17-9"), nil, []string{second, third}},
	} {
		t.Run(sentence, func(t *testing.T) {
			defer noPanic(t)
			warnings, refused := judge(TDSetSpec{SchedulingConfig: test.windows, DefaultReplica: 3})
			var fields []string
			for _, r := range refused {
				fields = append(fields, r.Field)
				if r.Type != field.ErrorTypeInvalid {
					t.Errorf("the error for %s has the type %q, want %q", r.Field, r.Type, field.ErrorTypeInvalid)
				}
			}
			if !slices.Equal(fields, test.refused) {
				t.Errorf("judge refuses %q (%v), want %q", fields, refused, test.refused)
			}
			if len(test.refused) > 0 {
				return // with an error, any warnings are right
			}
			left := slices.Clone([]string(warnings))
			for _, want := range test.warnings {
				i := slices.IndexFunc(left, want.matches)
				if i < 0 {
					t.Errorf("the warnings are\n%s\nwant one such as\n%s", orNone(left), want)
					continue
				}
				left = slices.Delete(left, i, i+1)
			}
			if len(left) > 0 && !t.Failed() {
				t.Errorf("got these warnings too, want no others:\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

var inTypesFile = regexp.MustCompile(`(exercise|solution)\.go:\d+`)

// noPanic turns a panic into an ordinary failure.
func noPanic(t *testing.T) {
	p := recover()
	if p == nil {
		return
	}
	if place := inTypesFile.FindString(string(debug.Stack())); place != "" {
		t.Errorf("%s: panic: %v", place, p)
	} else {
		t.Errorf("the caller panics because of what your function returned: %v (an error that holds a nil *StatusError isn't nil)", p)
	}
}

func orNone(lines []string) string {
	if len(lines) == 0 {
		return "none,"
	}
	return strings.Join(lines, "\n")
}

func TestValidator(t *testing.T) {
	defer noPanic(t)
	good, hidden := tdset(nil), tdset(windows("0-24", "9-17"))
	finalized := with(hidden, "metadata", "finalizers", []any{"example.com/a"})
	updated := with(hidden, "spec", "container", map[string]any{"image": "another", "port": int64(80)})
	if warnings, err := (tdsetValidator{}).ValidateCreate(t.Context(), &TDSet{}); len(warnings) == 0 && err == nil {
		t.Fatal("ValidateCreate returned no warning for a TDSet without windows, want one")
	}
	for sentence, test := range map[string]struct {
		old, new map[string]any
		warning  string // a part of it
		refused  string // the field; "" if it is accepted
	}{
		"the example is created, with a warning":               {nil, good, "0 to 1", ""},
		"a window that is never active is refused":             {nil, hidden, "", "spec.schedulingConfig[1]"},
		"a change to a window that is never active is refused": {good, hidden, "", "spec.schedulingConfig[1]"},
		"a changed schedule gets a warning":                    {good, tdset(windows("1-0")), "0 to 1", ""},
		"a stored wrong schedule can be fixed":                 {hidden, good, "0 to 1", ""},
		"a wrong schedule doesn't prevent a new finalizer":     {hidden, finalized, "", ""},
		"a wrong schedule doesn't prevent a new image":         {hidden, updated, "", ""},
		"a changed schedule that is still wrong is refused":    {hidden, tdset(windows("0-24", "8-17")), "", "spec.schedulingConfig[1]"},
		"windows in another order are a changed schedule":      {tdset(windows("9-17", "0-24")), hidden, "", "spec.schedulingConfig[1]"},
		"a new finalizer for the example causes no warning":    {good, with(good, "metadata", "finalizers", []any{"example.com/a"}), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			defer noPanic(t)
			types := runtime.NewScheme()
			if err := addToScheme(types); err != nil {
				t.Fatal(err)
			}
			request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create, Object: raw(t, test.new)}}
			if test.old != nil {
				request.Operation, request.OldObject = admissionv1.Update, raw(t, test.old)
			}
			response := admission.WithValidator[*TDSet](types, tdsetValidator{}).Handler.Handle(context.Background(), request)
			if test.warning != "" && !strings.Contains(strings.Join(response.Warnings, "\n"), test.warning) {
				t.Errorf("the warnings are\n%s\nwant one with %q", orNone(response.Warnings), test.warning)
			}
			if response.Allowed && test.warning == "" && len(response.Warnings) > 0 {
				t.Errorf("the warnings are\n%s\nwant none, because the schedule hasn't changed", strings.Join(response.Warnings, "\n"))
			}
			switch {
			case response.Allowed && test.refused != "":
				t.Errorf("it is accepted, want an error that names %s", test.refused)
			case !response.Allowed && test.refused == "":
				t.Errorf("it is refused: %s", response.Result.Message)
			case !response.Allowed && response.Result.Reason != metav1.StatusReasonInvalid:
				t.Errorf("it is refused with the reason %s (%s), want Invalid, like the API server's own errors: use apierrors.NewInvalid",
					response.Result.Reason, response.Result.Message)
			case !response.Allowed && !strings.Contains(response.Result.Message, test.refused):
				t.Errorf("it is refused: %s\nwant an error that names %s", response.Result.Message, test.refused)
			}
		})
	}
}
