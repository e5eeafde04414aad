package judge

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/ui"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(2), "memory": "1Gi"}}}
	for text, want := range map[string]string{
		"object.spec.replicas == 2":                                 "",
		"object.spec.replicas == sample.spec.replicas":              "",
		`quantity(object.spec.memory).isGreaterThan(quantity("1"))`: "", // as in a CRD
		"object.spec.replicas == 3":                                 "not true: object.spec.replicas == 3",
		"object.status.ready":                                       "no such key: status",
		"object.spec.memory":                                        "must be a bool",
		"1 + 1":                                                     "must be a bool",
		"object.spec.":                                              "Syntax error",
	} {
		expression, err := compile(text)
		if err == nil {
			err = expression.holds(object, object)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got the error %v, want %q", text, err, want)
		}
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	object := map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a/b~c": "d"}},
		"spec":     map[string]any{"containers": []any{map[string]any{"name": "main", "image": "a"}, map[string]any{"name": "other", "image": "b"}}},
	}
	for _, test := range []struct {
		path    fieldpath.Path
		pointer string
		value   any
	}{
		{fieldpath.MakePathOrDie("spec", "containers", fieldpath.KeyByFields("name", "other"), "image"), "/spec/containers/1/image", "b"},
		{fieldpath.MakePathOrDie("metadata", "labels", "a/b~c"), "/metadata/labels/a~1b~0c", "d"},
		{fieldpath.MakePathOrDie("spec", "containers", 0, "name"), "/spec/containers/0/name", "main"},
		{fieldpath.MakePathOrDie("spec", "containers", fieldpath.KeyByFields("name", "none"), "image"), "", nil},
		{fieldpath.MakePathOrDie("spec", "containers", 7), "", nil},
		{fieldpath.MakePathOrDie("spec", "none"), "", nil},
	} {
		pointer, value, found := locate(object, test.path)
		if pointer != test.pointer || value != test.value || found != (test.value != nil) {
			t.Errorf("%s: got %q, %v, %v", test.path, pointer, value, found)
		}
	}
}

// aReport has a result of each kind.
func aReport() Report {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	evidence := []Evidence{{At: began.Add(time.Second), Text: "PUT    /apis/a  200", Detail: "<script>"}}
	return Report{Version: FormatVersion, Operator: "mine", Results: []Result{
		{Check: "converge", Promise: "it converges", Verdict: Passed, Began: began, Ended: began.Add(2 * time.Second), Measures: []Measure{{"writes", 3, ""}},
			Requests: []Request{{began.Add(time.Second), "list", "foos", "/apis/a", 403}}, Steps: []Step{{began, "start"}}},
		{Check: "quiet", Promise: "it is quiet", Verdict: Found, Began: began, Ended: began.Add(time.Second), Findings: []Finding{
			{Severity: Warning, What: "it writes", Evidence: evidence}, {Severity: Error, What: "it loops", Evidence: evidence}}},
		{Check: "endpoints", Promise: "they respond", Verdict: Skipped, Why: "judge.yaml has no endpoints"},
	}}
}

func TestCard(t *testing.T) {
	t.Parallel()
	var card bytes.Buffer
	aReport().WriteCard(&card, ui.NewPalette(false))
	want := `✓ converge   it converges (2s)
             writes: 3
✗ quiet      it is quiet (1s)
- endpoints  they respond (0s)
             skipped: judge.yaml has no endpoints

ERROR quiet: it loops
  1s  PUT    /apis/a  200
  see 05-controller-runtime/more/pitfalls.md, and judge explain quiet

WARNING quiet: it writes
  1s  PUT    /apis/a  200
  see 05-controller-runtime/more/pitfalls.md, and judge explain quiet

1 passed, 1 with findings, 1 skipped, 0 not judged
`
	if diff := cmp.Diff(want, card.String()); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	var written bytes.Buffer
	if err := aReport().WriteJUnit(&written); err != nil {
		t.Fatal(err)
	}
	var suite junitSuite
	if err := xml.Unmarshal(written.Bytes(), &suite); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(suite.Tests, suite.Failures, suite.Errors, suite.Skipped); got != "3 1 0 1" {
		t.Errorf("tests, failures, errors, skipped: %s, want 3 1 0 1", got)
	}
	if failure := suite.Cases[1].Failure; failure == nil || !strings.Contains(failure.Text, "error: it loops\n  03:04:06.000  PUT    /apis/a  200") {
		t.Errorf("the failure is %+v", failure)
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	if err := aReport().WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it loops", "&lt;script&gt;", `<rect class="refused" x="50"`, "skipped"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, unwanted := range []string{"<script", "http://", "https://", "ZgotmplZ"} {
		if strings.Contains(page.String(), unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
}

func TestBaselineAndStatus(t *testing.T) {
	t.Parallel()
	earlier := aReport()
	earlier.Results[1].Findings = earlier.Results[1].Findings[:1]
	for sentence, test := range map[string]struct {
		change func(Report) Report
		want   int
	}{
		"findings":               {func(r Report) Report { return r }, 1},
		"a finding is new":       {func(r Report) Report { r.Compare(earlier); return r }, 1},
		"all findings are known": {func(r Report) Report { r.Compare(aReport()); return r }, 0},
		"a known finding has another number": {func(r Report) Report {
			before := aReport()
			before.Results[1].Findings[0].What, r.Results[1].Findings[0].What = "it sends 3 requests in 1.5s", "it sends 12 requests in 250ms"
			r.Compare(before)
			return r
		}, 0},
		"no findings":          {func(r Report) Report { r.Results[1].Findings = nil; return r }, 0},
		"the judge has failed": {func(r Report) Report { r.Results[0].Verdict = Failed; return r }, 2},
		"one can't be judged": {func(r Report) Report {
			r.Results[0].Verdict, r.Results[1].Findings = Unjudged, nil
			return r
		}, 2},
		"one can't be judged, and there are findings": {func(r Report) Report { r.Results[0].Verdict = Unjudged; return r }, 1},
	} {
		if got := test.change(aReport()).Status(); got != test.want {
			t.Errorf("%s: status %d, want %d", sentence, got, test.want)
		}
	}
}

// Each check has all its texts, and its name is unique.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, check := range All() {
		if check.Promise == "" || check.Why == "" || check.Lesson == "" || check.judge == nil {
			t.Errorf("%s lacks something: %+v", check.Name, check)
		}
		if seen[strings.ToLower(check.Name)] {
			t.Errorf("there are two checks %s", check.Name)
		}
		seen[strings.ToLower(check.Name)] = true
	}
	if _, err := Find("quiet", "no-such-check"); err == nil || !strings.Contains(err.Error(), `there is no check "no-such-check"`) {
		t.Errorf("got the error %v", err)
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"": "start-without-crd", "quiet": "Every resync", "judge.yaml": "mutations  Changes to the first sample"} {
		var text bytes.Buffer
		if err := Explain(&text, name); err != nil || !strings.Contains(text.String(), want) {
			t.Errorf("explain %q: %v\n%s\nwant %q", name, err, text.String(), want)
		}
	}
}

// What the attempt says doesn't depend on how it ends.
func TestTrials(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		do       func(*attempt)
		want     Verdict
		findings int
	}{
		"nothing is found":           {func(*attempt) {}, Passed, 0},
		"a finding":                  {func(t *attempt) { t.find(Error, nil, "a") }, Found, 1},
		"not judged":                 {func(t *attempt) { t.unable("a") }, Unjudged, 0},
		"it doesn't apply":           {func(t *attempt) { t.skip("a") }, Skipped, 0},
		"a finding, then not judged": {func(t *attempt) { t.find(Error, nil, "a"); t.unable("b") }, Found, 1},
		"the judge fails":            {func(t *attempt) { t.Fatalf("a") }, Failed, 0},
		"the judge panics":           {func(*attempt) { panic("a") }, Failed, 0},
		"a cleanup fails":            {func(t *attempt) { t.Cleanup(func() { t.Fatalf("a") }) }, Failed, 0},
		"a finding during a cleanup": {func(t *attempt) { t.Cleanup(func() { t.find(Error, nil, "a") }) }, Found, 1},
	} {
		cleaned := 0
		attempt := &attempt{ctx: t.Context()}
		result := attempt.try(func() {
			attempt.Cleanup(func() { cleaned++ })
			test.do(attempt)
		})
		if result.Verdict != test.want || len(result.Findings) != test.findings || cleaned != 1 {
			t.Errorf("%s: %s, %d findings, cleaned %d times", sentence, result.Verdict, len(result.Findings), cleaned)
		}
	}
}

// A backoff pauses. A loop doesn't, even on a machine where each answer takes long.
func TestLongestPause(t *testing.T) {
	const watched = 2 * time.Second
	start := time.Now()
	for sentence, test := range map[string]struct {
		next func(time.Duration) time.Duration
		want time.Duration
	}{
		"a backoff": {func(last time.Duration) time.Duration { return last + max(last, 5*time.Millisecond) }, 720 * time.Millisecond},
		"a loop":    {func(last time.Duration) time.Duration { return last + 150*time.Millisecond }, 150 * time.Millisecond},
		"nothing":   {func(time.Duration) time.Duration { return watched }, watched},
	} {
		t.Run(sentence, func(t *testing.T) {
			var requests []audit.Request
			for at := test.next(0); at < watched; at = test.next(at) {
				requests = append(requests, audit.Request{Answered: start.Add(at)})
			}
			if got := longestPause(start, requests, start.Add(watched)); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
