package judge

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/lens"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

func TestExpressions(t *testing.T) {
	t.Parallel()
	spec := map[string]any{"replicas": int64(2), "memory": "1Gi"}
	object := &unstructured.Unstructured{Object: map[string]any{"spec": spec}}
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
		var expression Expression
		err := expression.compile(text)
		if err == nil {
			err = expression.holds(object, object)
		}
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got the error %v, want %q", text, err, want)
		}
	}
}

func TestLeaves(t *testing.T) {
	t.Parallel()
	object := &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"labels": map[string]any{"a/b~c": "d"}},
		"spec": map[string]any{"replicas": int64(2), "strategy": nil, "containers": []any{
			map[string]any{"name": "main"}, map[string]any{"name": "other"},
		}},
	}}
	var got []string
	for _, field := range leaves(object.Object) {
		got = append(got, fmt.Sprintf("%s %s: %v %v", field, field.pointer(), field.value, field.in(object)))
	}
	want := []string{
		"spec.replicas /spec/replicas: 2 2",
		`metadata.labels["a/b~c"] /metadata/labels/a~1b~0c: d d`,
		"spec.containers[0].name /spec/containers/0/name: main main",
		"spec.containers[1].name /spec/containers/1/name: other other",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, missing := range [][]any{{"spec", "none"}, {"spec", "containers", 7, "name"}, {"spec", "replicas", "x"}} {
		if value := (leaf{path: missing}).in(object); value != nil {
			t.Errorf("%v: got %v", missing, value)
		}
	}
}

// aReport has a result of each kind.
func aReport() Report {
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	second := began.Add(time.Second)
	evidence := []Evidence{{second, "PUT    /apis/a  200", "<script>"}}
	return Report{Operator: "mine", Results: []Result{
		{
			Check: Check{Name: "converge", Promise: "it converges"}, Verdict: Passed,
			Began: began, Ended: began.Add(2 * time.Second),
			Measures: []string{"writes: 3"},
		},
		{
			Check: Check{Name: "quiet", Promise: "it is quiet", Fix: "Compare first.", Lesson: "pitfalls.md"}, Verdict: Found,
			Began: began, Ended: second,
			Findings: []Finding{
				{Severity: Warning, What: "it writes", Evidence: evidence}, {Severity: Error, What: "it loops", Evidence: evidence},
			},
		},
		{
			Check: Check{Name: "endpoints", Promise: "they respond"}, Verdict: Skipped, Why: "judge.yaml has no endpoints",
		},
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
    1.0s  PUT    /apis/a  200
  What to change: Compare first.
  see pitfalls.md, and judge explain quiet

WARNING quiet: it writes
    1.0s  PUT    /apis/a  200
  What to change: Compare first.
  see pitfalls.md, and judge explain quiet

1 passed, 1 with findings, 1 skipped, 0 not judged
`
	if diff := cmp.Diff(want, card.String()); diff != "" {
		t.Errorf("the card (-want +got):\n%s", diff)
	}
}

// Each kind has a heading, and its findings name it.
func TestCardOfSeveralKinds(t *testing.T) {
	t.Parallel()
	report := aReport()
	report.Results[0].Kind, report.Results[1].Kind = "Foo", "Bar"
	var card strings.Builder
	report.WriteCard(&card, ui.NewPalette(false))
	for _, want := range []string{"Foo:\n✓ converge", "Bar:\n✗ quiet", "\n- endpoints", "ERROR quiet of Bar: it loops"} {
		if strings.Count(card.String(), want) != 1 {
			t.Errorf("%q isn't once in\n%s", want, &card)
		}
	}
	if wrong := "Bar:\n- endpoints"; strings.Contains(card.String(), wrong) {
		t.Errorf("%q is in\n%s", wrong, &card)
	}
}

func TestJUnit(t *testing.T) {
	t.Parallel()
	known := aReport()
	known.Compare(known)
	for sentence, test := range map[string]struct {
		report Report
		want   string
	}{
		"a check with findings":     {aReport(), `tests="3" failures="1" errors="0" id="0" skipped="1"`},
		"the findings are known":    {known, `tests="3" failures="0" errors="0" id="0" skipped="1"`},
		"a finding and its request": {aReport(), "ERROR quiet: it loops\n    1.0s  PUT    /apis/a  200"},
		"what was skipped, and why": {aReport(), `<skipped message="judge.yaml has no endpoints">`},
		"a check that can't be judged": {
			Report{Results: []Result{{Verdict: Unjudged, Why: "it is never ready"}}}, `<error message="it is never ready">`,
		},
	} {
		var written strings.Builder
		if err := test.report.WriteJUnit(&written); err != nil || !strings.Contains(written.String(), test.want) {
			t.Errorf("%s: %v\n%s\nlacks %s", sentence, err, &written, test.want)
		}
	}
}

// The JSON report keeps its format, and can be read as a baseline. docs/judge.md shows this file.
func TestJSON(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "report.json")
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	report, err := ReadReport(file)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := report.WriteJSON(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("written again (-want +got):\n%s", diff)
	}
}

func TestBaseline(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		check, before string
		where         []string
		want          int
	}{
		"the finding is known":           {"quiet", "it sends 12 requests in 250ms", []string{"one", "two"}, 0},
		"it was measured otherwise":      {"quiet", "it sends 3 requests in 1.5s", []string{"one", "two"}, 0},
		"another finding is known":       {"quiet", "it writes", []string{"one", "two"}, 1},
		"another check had that finding": {"reads", "it sends 12 requests in 250ms", []string{"one", "two"}, 1},
		"it was in more places":          {"quiet", "it sends 12 requests in 250ms", []string{"three", "two", "one"}, 0},
		"it is in a new place":           {"quiet", "it sends 12 requests in 250ms", []string{"one"}, 1},
	} {
		with := func(check, what string, where []string) Report {
			findings := []Finding{{What: what, Where: where}}
			return Report{Results: []Result{{Check: Check{Name: check}, Verdict: Found, Findings: findings}}}
		}
		report := with("quiet", "it sends 12 requests in 250ms", []string{"one", "two"})
		report.Compare(with(test.check, test.before, test.where))
		if got := report.Status(); got != test.want {
			t.Errorf("%s: status %d, want %d", sentence, got, test.want)
		}
	}
}

func TestHTML(t *testing.T) {
	t.Parallel()
	var page bytes.Buffer
	report := aReport()
	report.Results[1].Recorded = []lens.Item{{ID: 1, Lane: lens.Requests, Label: "list foos 403"}}
	if err := report.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"it loops", "&lt;script&gt;", "srcdoc=", "list foos 403", "skipped"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, unwanted := range []string{"<script", `src="http`, `href="http`, "ZgotmplZ"} {
		if strings.Contains(page.String(), unwanted) {
			t.Errorf("the page has %q", unwanted)
		}
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	found := []Finding{{What: "it loops"}}
	for sentence, test := range map[string]struct {
		verdicts []Verdict
		want     int
	}{
		"findings":                              {[]Verdict{Passed, Found, Skipped}, 1},
		"no findings":                           {[]Verdict{Passed, Skipped}, 0},
		"the judge has failed":                  {[]Verdict{Found, Failed}, 2},
		"one can't be judged":                   {[]Verdict{Passed, Unjudged}, 2},
		"one can't be judged, and one is wrong": {[]Verdict{Found, Unjudged}, 1},
	} {
		var report Report
		for _, verdict := range test.verdicts {
			result := Result{Verdict: verdict}
			if verdict == Found {
				result.Findings = found
			}
			report.Results = append(report.Results, result)
		}
		if got := report.Status(); got != test.want {
			t.Errorf("%s: status %d, want %d", sentence, got, test.want)
		}
	}
}

// Each check has all its texts, and its name is unique.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, check := range All() {
		if check.Promise == "" || check.Why == "" || check.Fix == "" || check.Lesson == "" || check.run == nil {
			t.Errorf("%s lacks something: %+v", check.Name, check)
		}
		if _, err := os.Stat(filepath.Join(testkit.Repository(), check.Lesson)); err != nil {
			t.Errorf("%s: its lesson: %v", check.Name, err)
		}
		if seen[strings.ToLower(check.Name)] {
			t.Errorf("there are two checks %s", check.Name)
		}
		seen[strings.ToLower(check.Name)] = true
	}
	_, err := Find("quiet", "no-such-check")
	if err == nil || !strings.Contains(err.Error(), `there is no check "no-such-check"`) {
		t.Errorf("got the error %v", err)
	}
}

// What the attempt says doesn't depend on how it ends.
func TestAttempts(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		do       func(*attempt)
		want     Verdict
		findings int
	}{
		"nothing is found":           {func(*attempt) {}, Passed, 0},
		"a finding":                  {func(t *attempt) { t.found(Error, nil, "a") }, Found, 1},
		"not judged":                 {func(t *attempt) { t.unable("a") }, Unjudged, 0},
		"it doesn't apply":           {func(t *attempt) { t.skip("a") }, Skipped, 0},
		"a finding, then not judged": {func(t *attempt) { t.found(Error, nil, "a"); t.unable("b") }, Found, 1},
		"the judge fails":            {func(t *attempt) { t.must(errors.New("a")) }, Failed, 0},
		"the judge panics":           {func(*attempt) { panic("a") }, Failed, 0},
		"a cleanup fails":            {func(t *attempt) { t.cleanup(func() { t.must(errors.New("a")) }) }, Failed, 0},
		"a finding during a cleanup": {
			func(t *attempt) { t.cleanup(func() { t.found(Error, nil, "a") }) }, Found, 1,
		},
	} {
		cleaned := 0
		attempt := &attempt{ctx: t.Context()}
		result := attempt.try(func() {
			attempt.cleanup(func() { cleaned++ })
			test.do(attempt)
		})
		if result.Verdict != test.want || len(result.Findings) != test.findings || cleaned != 1 {
			t.Errorf("%s: %s, %d findings, cleaned %d times", sentence, result.Verdict, len(result.Findings), cleaned)
		}
	}
}

// A fault isn't blamed for what the operator doesn't do without it either.
func TestOneFindingPerCause(t *testing.T) {
	t.Parallel()
	found := func(check string, causes ...string) Result {
		r := Result{Check: Check{Name: check}, Verdict: Found}
		for _, cause := range causes {
			r.Findings = append(r.Findings, Finding{Cause: cause})
		}
		return r
	}
	results := []Result{found("drift", ""), found("F1", "drift"), found("F2", "drift", "recreate"), {Verdict: Passed}}
	onePerCause(results)
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprintf("%s, %d findings", r.Verdict, len(r.Findings)))
	}
	want := []string{"found, 1 findings", "skipped, 0 findings", "found, 1 findings", "passed, 0 findings"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestOwnLines(t *testing.T) {
	t.Parallel()
	log := "starting manager\nERROR setup: unable to start {\"error\": \"no namespace\"}\nmain.main\n\t/src/main.go:12\n" +
		"runtime.main\n\t/go/proc.go:285\nmain.run(0xc0001, 0x2)\ngoroutine 1 [running]:\n" +
		"I0102 Stopping and waiting for caches\nINFO Wait completed, proceeding to shutdown\n"
	want := "starting manager\nERROR setup: unable to start {\"error\": \"no namespace\"}"
	if got := ownLines(log); got != want {
		t.Errorf("got %q, want %q", got, want)
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
		"a backoff": {
			func(last time.Duration) time.Duration { return last + max(last, 5*time.Millisecond) }, 720 * time.Millisecond,
		},
		"a loop": {
			func(last time.Duration) time.Duration { return last + 150*time.Millisecond }, 150 * time.Millisecond,
		},
		"nothing": {func(time.Duration) time.Duration { return watched }, watched},
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

// A status is about what its reader finds in the cluster at that time.
func TestReadyTooSoon(t *testing.T) {
	t.Parallel()
	var expression Expression
	if err := expression.compile("object.spec.replicas == sample.spec.replicas"); err != nil {
		t.Fatal(err)
	}
	m := Mutation{Change{Name: "scale"}, []Expectation{{Kind: "Deployment", CEL: &expression}}}
	object := func(kind string, uid types.UID, version string, generation int64) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"replicas": int64(2)}}}
		o.SetKind(kind)
		o.SetUID(uid)
		o.SetResourceVersion(version)
		o.SetGeneration(generation)
		o.Object["status"] = map[string]any{"observedGeneration": generation, "conditions": []any{
			map[string]any{"type": "Ready", "status": "True"},
		}}
		return o
	}
	for sentence, test := range map[string]struct {
		version            string // of the Deployment; the sample's is 10
		replicas, observed int64
		want               string
	}{
		"the rollout has begun":              {"9", 2, 2, ""},
		"the rollout hasn't begun":           {"9", 2, 1, "the rollout of its Deployment hadn't begun yet"},
		"the Deployment is as it was":        {"9", 1, 2, "not true: object.spec.replicas == sample.spec.replicas"},
		"the Deployment is created later on": {"11", 2, 2, "there is no Deployment"},
	} {
		sample, deployment := object("Foo", "foo", "10", 2), object("Deployment", "deployment", test.version, 2)
		deployment.SetAPIVersion("apps/v1")
		deployment.SetOwnerReferences([]metav1.OwnerReference{*metav1.NewControllerRef(sample, sample.GroupVersionKind())})
		deployment.Object["spec"] = map[string]any{"replicas": test.replicas}
		deployment.Object["status"] = map[string]any{"observedGeneration": test.observed}
		config := &Config{Managed: Managed{Owns: []Kind{{"apps/v1", "Deployment"}}, Ready: Ready{Condition: "Ready"}}}
		s := scenario{attempt: &attempt{}, judge: &judge{config: config}, history: &history{
			present: map[types.UID]*unstructured.Unstructured{},
		}}
		s.history.add(watch.Added, deployment)
		s.history.add(watch.Added, sample)
		s.foundReadyTooSoon(sample, m)
		found := ""
		for _, finding := range s.result.Findings {
			found += finding.What
		}
		if !strings.Contains(found, test.want) || (found == "") != (test.want == "") {
			t.Errorf("%s: found %q, want %q", sentence, found, test.want)
		}
	}
}
