//go:build check || solution

// TestOneDay runs the program. TestCRD and TestAPIServer are about the CRD: what kubectl shows of
// a TDSet, and which TDSets the API server accepts. TestJudge and TestValidator are about the
// validator.
//
// As given, the CRD has only what follows from the Go types, and the validator accepts everything.
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
// fails: TestAPIServer/defaultReplica is optional and 1 by default
// says: the TDSet without defaultReplica is refused
//
// fails: TestAPIServer
// says: a TDSet with the port 0 is accepted, want an error that names spec.container.port
//
// fails: TestJudge
// says: judge returned no warning for a schedule without windows, want one
//
// fails: TestValidator
// says: ValidateCreate returned no warning for a TDSet without windows, want one

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/util/jsonpath"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"example.com/operators/06-kubebuilder/test/operatortest"
)

const example = "manifests/tdset.yaml" // from 7 to 9 it asks for 3 replicas, and from 9 to 17 for 5

func TestMain(m *testing.M) { operatortest.Main(m, main) }

// The controller works with these types. Chapter 05's exercise tests everything else about it.
func TestOneDay(t *testing.T) {
	stage := operatortest.Start(t, "manifests/crd.yaml", "--now=2026-03-02T08:59:55Z")
	stage("a TDSet gets its Deployment, with the replicas of the hour", func(t *operatortest.T) {
		t.Create("tdsets", example, "metadata.name=day")
		t.Has("deployments", "day", ".spec.replicas", "3")
		t.IsOwnedBy("deployments", "day", "TDSet day")
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 7 to 9")
	})
	stage("at nine, the Deployment is scaled, although no object has changed", func(t *operatortest.T) {
		t.Has("deployments", "day", ".spec.replicas", "5")
		t.HasCondition("tdsets", "day", "Ready", "True AsScheduled from hour 9 to 17")
	})
}

func TestCRD(t *testing.T) {
	text, err := generate()
	if err != nil {
		t.Fatalf("controller-gen: %v", err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal([]byte(text), &crd); err != nil || len(crd.Spec.Versions) == 0 {
		t.Fatalf("controller-gen finds no kind among the types (%v): a kind embeds TypeMeta and ObjectMeta", err)
	}
	t.Run("the short name is tds", func(t *testing.T) {
		if got := crd.Spec.Names.ShortNames; !slices.Equal(got, []string{"tds"}) {
			t.Errorf("the short names are %q, want tds", got)
		}
	})
	t.Run("kubectl get shows the columns Ready, Message and Age", func(t *testing.T) {
		object := map[string]any{
			"metadata": map[string]any{"creationTimestamp": "2026-01-01T08:59:50Z"},
			"status": map[string]any{"conditions": []any{
				map[string]any{"type": "Blessed", "status": "Unknown", "message": "by somebody"},
				map[string]any{"type": "Ready", "status": "True", "message": "from hour 9 to 17"},
			}},
		}
		var got []string
		for _, column := range crd.Spec.Versions[0].AdditionalPrinterColumns {
			var cell strings.Builder
			path := jsonpath.New("").AllowMissingKeys(true)
			if err := errors.Join(path.Parse("{"+column.JSONPath+"}"), path.Execute(&cell, object)); err != nil {
				t.Fatalf("column %s: %v", column.Name, err)
			}
			got = append(got, column.Name+": "+cell.String())
		}
		if want := []string{"Ready: True", "Message: from hour 9 to 17", "Age: 2026-01-01T08:59:50Z"}; !slices.Equal(got, want) {
			t.Errorf("the columns after the name are\n%q, want\n%q", got, want)
		}
	})
	t.Run("the status is a subresource", func(t *testing.T) {
		if sub := crd.Spec.Versions[0].Subresources; sub == nil || sub.Status == nil {
			t.Error("the status isn't a subresource: a write of the TDSet also changes the status, and the controller's writes of the status get a 404")
		}
	})
}

func TestAPIServer(test *testing.T) {
	t, group := withCRD(test)
	for sentence, changes := range map[string][]string{
		"the example": {""},
		"windows within a day, up to midnight, and past it": {windows("0-24"), windows("19-24"), windows("19-0"), windows("22-6"), windows("23-0")},
		"windows that overlap without being equal": {
			windows("8-12", "10-14"), windows("9-12", "9-17"), windows("9-17", "12-17"), windows("9-17", "17-9"),
		},
		"0 to 24 windows": {windows(), windows(hours(24)...)},
		"the smallest and largest valid values": {
			"spec.schedulingConfig=[{startTime: 9, endTime: 17, replica: 0}]", "spec.schedulingConfig=[{startTime: 9, endTime: 17, replica: 1000}]",
			"spec.defaultReplica=1", "spec.defaultReplica=1000", "spec.intervalMint=1", "spec.intervalMint=1440",
			"spec.container.port=1", "spec.container.port=65535", "spec.service.port=1", "spec.service.port=65535",
			"spec.container.image=" + strings.Repeat("i", 512), "metadata.name=" + strings.Repeat("n", 63),
		},
	} {
		test.Run(sentence, func(test *testing.T) {
			for _, change := range changes {
				sent, stored, err := create(t, group, change)
				if err != nil {
					test.Errorf("%.200s: it is refused: %v", change, err)
				} else if sent, stored := toJSON(sent.Object["spec"]), toJSON(stored.Object["spec"]); sent != stored {
					test.Errorf("%s: the spec is stored as\n%s, want\n%s", change, stored, sent)
				}
			}
		})
	}
	test.Run("defaultReplica is optional and 1 by default", func(test *testing.T) {
		_, stored, err := create(t, group, "spec.defaultReplica=")
		if err != nil {
			test.Errorf("the TDSet without defaultReplica is refused: %v", err)
		} else if got, _, _ := unstructured.NestedInt64(stored.Object, "spec", "defaultReplica"); got != 1 {
			test.Errorf("defaultReplica is stored as %v, want 1", got)
		}
	})
	if _, _, err := create(t, group, "spec.container.port=0"); err == nil {
		t.Fatal("a TDSet with the port 0 is accepted, want an error that names spec.container.port: begin with this marker")
	}
	for sentence, attempts := range map[string]struct {
		says    []string // words of the message; any message is right if there are none
		changes []string // the error must name the field before the "=", or one inside it
	}{
		"a name with more than 63 characters": {[]string{"63"}, []string{"metadata.name=" + strings.Repeat("n", 64)}},
		"a port out of range": {nil, []string{
			"spec.container.port=0", "spec.container.port=65536", "spec.service.port=0", "spec.service.port=65536",
		}},
		"an image that is empty or too long": {nil, []string{`spec.container.image=""`, "spec.container.image=" + strings.Repeat("i", 513)}},
		"a number of replicas out of range": {nil, []string{
			"spec.schedulingConfig=[{startTime: 9, endTime: 17, replica: -1}]", "spec.schedulingConfig=[{startTime: 9, endTime: 17, replica: 1001}]",
			"spec.defaultReplica=0", "spec.defaultReplica=1001",
		}},
		"an interval out of range":                    {nil, []string{"spec.intervalMint=0", "spec.intervalMint=1441"}},
		"a startTime that isn't an hour from 0 to 23": {nil, []string{windows("24-24"), windows("24-0"), windows("24-7"), windows("-1-7")}},
		"an endTime that isn't an hour from 0 to 24":  {nil, []string{windows("7-25"), windows("7--1")}},
		"a window with equal start and end":           {[]string{"startTime", "endTime", "24"}, []string{windows("0-0"), windows("19-0", "9-9")}},
		"two windows with the same hours": {[]string{"startTime", "endTime"}, []string{
			windows("9-17", "9-17"), windows("9-17", "7-9", "9-17"), windows("19-0", "19-24"),
			"spec.schedulingConfig=[{startTime: 9, endTime: 17, replica: 1}, {startTime: 9, endTime: 17, replica: 2}]",
		}},
		"more than 24 windows": {nil, []string{windows(append(hours(24), "0-2")...)}},
	} {
		test.Run(sentence, func(test *testing.T) {
			for _, change := range attempts.changes {
				_, _, err := create(t, group, change)
				wantRefused(test, err, change, attempts.says)
			}
		})
	}
}

// wantRefused checks that the API server refuses a change, with an error that names the field
// before the "=" or one inside it, and with a message that contains these words.
func wantRefused(t *testing.T, err error, change string, says []string) {
	t.Helper()
	at, _, _ := strings.Cut(change, "=")
	var refused *apierrors.StatusError
	switch {
	case err == nil:
		t.Errorf("%.200s: it is accepted, want an error that names %s", change, at)
		return
	case !errors.As(err, &refused) || refused.ErrStatus.Details == nil:
		t.Fatal(err)
	}
	ownWords := len(says) == 0 || !strings.Contains(err.Error(), "failed rule")
	if !slices.ContainsFunc(refused.ErrStatus.Details.Causes, func(cause metav1.StatusCause) bool {
		return strings.HasPrefix(cause.Field, at) || strings.Contains(cause.Message, at)
	}) {
		t.Errorf("%.200s: it is refused:\n%v\nwant an error that names %s", change, err, at)
	} else if !ownWords || !containsAll(err.Error(), says) {
		t.Errorf("%.200s: it is refused:\n%v\nwant a message in the marker, which contains the words %q", change, err, says)
	}
}

// create sends the example with a change. The API server stores nothing, but answers as if it did.
func create(t *operatortest.T, group, change string) (sent, stored *unstructured.Unstructured, err error) {
	t.Helper()
	changes := []string{"apiVersion=" + group + "/v1", "metadata.namespace="}
	if change != "" {
		changes = append(changes, change)
	}
	sent = t.Object(example, changes...)
	stored, err = t.Resource("tdsets").Create(t.Context(), sent, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return sent, stored, err
}

// windows sets the windows of a TDSet, in the format that parse reads.
func windows(written ...string) string { return "spec.schedulingConfig=" + toJSON(parse(written...)) }

// parse reads windows such as 9-17, and gives each one replica.
func parse(written ...string) []Scheduling {
	windows := make([]Scheduling, len(written))
	for i, text := range written {
		windows[i].Replica = 1
		if _, err := fmt.Sscanf(text, "%d-%d", &windows[i].StartTime, &windows[i].EndTime); err != nil {
			panic(err)
		}
	}
	return windows
}

// hours returns that many windows of one hour each.
func hours(number int) (written []string) {
	for hour := range number {
		written = append(written, fmt.Sprintf("%d-%d", hour, hour+1))
	}
	return written
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
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

func orNone(lines []string) string {
	if len(lines) == 0 {
		return "none,"
	}
	return strings.Join(lines, "\n")
}

func TestValidator(t *testing.T) {
	if warnings, err := (tdsetValidator{}).ValidateCreate(t.Context(), &TDSet{}); len(warnings) == 0 && err == nil {
		t.Fatal("ValidateCreate returned no warning for a TDSet without windows, want one")
	}
	asks := func(windows ...string) *TDSet { return &TDSet{Spec: TDSetSpec{SchedulingConfig: parse(windows...)}} }
	good, hidden := asks("1-24"), asks("0-24", "9-17")
	finalized, updated := asks("0-24", "9-17"), asks("0-24", "9-17")
	finalized.Finalizers, updated.Spec.Container.Image = []string{"example.com/a"}, "another"
	goodFinalized := asks("1-24")
	goodFinalized.Finalizers = []string{"example.com/a"}
	for sentence, test := range map[string]struct {
		old, new *TDSet
		warning  string // a part of it
		refused  string // the field; "" if it is accepted
	}{
		"a schedule with a gap is created, with a warning":      {nil, good, "0 to 1", ""},
		"a window that is never active is refused":              {nil, hidden, "", "spec.schedulingConfig[1]"},
		"a change to a window that is never active is refused":  {good, hidden, "", "spec.schedulingConfig[1]"},
		"a changed schedule gets a warning":                     {good, asks("1-0"), "0 to 1", ""},
		"a stored wrong schedule can be fixed":                  {hidden, good, "0 to 1", ""},
		"a wrong schedule doesn't prevent a new finalizer":      {hidden, finalized, "", ""},
		"a wrong schedule doesn't prevent a new image":          {hidden, updated, "", ""},
		"a changed schedule that is still wrong is refused":     {hidden, asks("0-24", "8-17"), "", "spec.schedulingConfig[1]"},
		"windows in another order are a changed schedule":       {asks("9-17", "0-24"), hidden, "", "spec.schedulingConfig[1]"},
		"a new finalizer for a good schedule causes no warning": {good, goodFinalized, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			var warnings admission.Warnings
			var err error
			if test.old == nil {
				warnings, err = tdsetValidator{}.ValidateCreate(t.Context(), test.new)
			} else {
				warnings, err = tdsetValidator{}.ValidateUpdate(t.Context(), test.old, test.new)
			}
			if refusal, is := err.(*apierrors.StatusError); is && refusal == nil {
				t.Fatal("it returns a nil *StatusError as its error, and such an error isn't nil: return nil itself")
			}
			switch {
			case err == nil && test.refused != "":
				t.Errorf("it is accepted, want an error that names %s", test.refused)
			case err != nil && test.refused == "":
				t.Errorf("it is refused: %v", err)
			case err != nil && !apierrors.IsInvalid(err):
				t.Errorf("it is refused with the reason %q (%v), want Invalid, like the API server's own errors: use apierrors.NewInvalid",
					apierrors.ReasonForError(err), err)
			case err != nil && !strings.Contains(err.Error(), test.refused):
				t.Errorf("it is refused: %v\nwant an error that names %s", err, test.refused)
			case err == nil && test.warning == "" && len(warnings) > 0:
				t.Errorf("the warnings are\n%s\nwant none, because the schedule hasn't changed", orNone(warnings))
			case err == nil && !strings.Contains(strings.Join(warnings, "\n"), test.warning):
				t.Errorf("the warnings are\n%s\nwant one with %q", orNone(warnings), test.warning)
			}
		})
	}
}
