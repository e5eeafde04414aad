package judge_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/judge"
	operators "example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
)

func TestMain(m *testing.M) {
	if os.Getenv(isOperator) != "" {
		testOperator()
		return
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil { // most tests wait most of the time
		panic(err)
	}
	os.Setenv(isOperator, "yes") // for the processes that the judge starts
	os.Exit(m.Run())
}

// limitOfCorrect is for operators that should do everything. A slow machine needs it.
const limitOfCorrect = 4 * time.Minute

// judgedWith runs these checks of the operator with that bug, and returns their results. Both limits
// bound waits for what the operator should do.
func judgedWith(t *testing.T, name string, converge, recover time.Duration, checks ...string) []judge.Result {
	t.Helper()
	return judgedAfter(t, "", name, converge, recover, checks...)
}

// judgedAfter is judgedWith with an older version of the operator, unless from is "".
func judgedAfter(
	t *testing.T, from, name string, converge, recover time.Duration, checks ...string,
) []judge.Result {
	t.Helper()
	target, _ := testkit.Cluster(t)
	root, err := filepath.Abs(testkit.Repository())
	if err != nil {
		t.Fatal(err)
	}
	dir, manifests, others := t.TempDir(), filepath.Join(root, "01-raw-watch", "manifests"), ""
	args := `args: ["--kubeconfig={kubeconfig}", "--namespace={namespace}"]`
	switch name {
	case "it scales what an autoscaler has scaled":
		manifests = changed(t, manifests, fooVersion.Group, optionalGroup, "default: 1", "")
	case clusterScoped:
		manifests = changed(t, manifests, fooVersion.Group, clusterScopedGroup, "scope: Namespaced", "scope: Cluster",
			"name: example-foo\n", "name: example-foo\n  labels: {namespace: \"{namespace}\"}\n")
	case inCluster:
		args = "inCluster: true\nargs: [\"--namespace={namespace}\"]"
	case withWebhooks, tooWideWebhooks:
		args = "webhooks: [webhooks.yaml]\nargs: [\"--kubeconfig={kubeconfig}\", \"--namespace={namespace}\", " +
			"\"--certificates={certificates}\", \"--webhooks={webhooks}\"]"
		groups := map[string]string{withWebhooks: fooVersion.Group, tooWideWebhooks: "*"}
		testkit.Write(t, dir, map[string]string{"webhooks.yaml": fmt.Sprintf(aWebhook, groups[name])})
	case severalKinds: // Kubernetes' own controllers manage the second one
		testkit.Write(t, dir, map[string]string{"web.yaml": aDeployment})
		others = "---\nsamples: [web.yaml]\nowns:\n- {apiVersion: apps/v1, kind: ReplicaSet}\nready: {condition: Available}\n"
	}
	testkit.Write(t, dir, map[string]string{"judge.yaml": fmt.Sprintf(`
version: v1
%[5]s
manifests: [%[1]s/crd.yaml]
samples: [%[1]s/foo.yaml]
unique: [spec.deploymentName]
owns:
- {apiVersion: apps/v1, kind: Deployment}
- {apiVersion: v1, kind: ConfigMap}
ready: {condition: Ready}
mutations:
- name: scale
  patch: {spec: {replicas: 2}}
  expect:
  - {kind: Deployment, cel: object.spec.replicas == sample.spec.replicas}
- name: rename
  patch: {spec: {deploymentName: renamed}}
  expect:
  - {kind: Deployment, cel: object.metadata.name == sample.spec.deploymentName, count: 1}
badInput:
- name: a name that the operator refuses
  patch: {spec: {deploymentName: bad-name}}
cost: [5, 20]
limits: {converge: %[2]s, recover: %[3]s, quiet: 4s, shutdown: 5s}
%[4]s`, manifests, converge, recover, others, args)})
	config, err := judge.Read(filepath.Join(dir, "judge.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config.From = from
	all, err := judge.Find(checks...)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	results, err := judge.Run(t.Context(), judge.Options{
		Config: config, Command: []string{binary, "--bug=" + name}, Target: target, Checks: all, Parallel: 8,
	})
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// inCluster makes the judge start the operator without a kubeconfig. It is no bug.
const inCluster = "it finds the API server as in a Pod"

// severalKinds makes the judge look at Deployments, too. It is no bug.
const severalKinds = "it isn't the only operator"

// withWebhooks makes the operator refuse bad input by a webhook. It is no bug.
const withWebhooks = "it has webhooks"

// tooWideWebhooks makes its webhook match what others write.
const tooWideWebhooks = "its webhook sees everything"

const aWebhook = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validates}
webhooks:
- name: foos.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: a, namespace: b, path: /validate}}
  rules: [{apiGroups: ["%s"], apiVersions: ["*"], operations: [CREATE, UPDATE], resources: ["*"]}]
`

const aDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: example.com/web:1}]}
`

// changed returns a folder with a copy of the manifests in which texts are replaced.
func changed(t *testing.T, manifests string, oldNew ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range []string{"crd.yaml", "foo.yaml"} {
		content, err := os.ReadFile(filepath.Join(manifests, file))
		if err != nil {
			t.Fatal(err)
		}
		testkit.Write(t, dir, map[string]string{file: strings.NewReplacer(oldNew...).Replace(string(content))})
	}
	return dir
}

// What init writes can be read, and names what the operator does.
func TestInit(t *testing.T) {
	t.Parallel()
	target, _ := testkit.Cluster(t)
	manifests, err := filepath.Abs(filepath.Join(testkit.Repository(), "01-raw-watch", "manifests"))
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, config := t.TempDir(), judge.NewConfig()
	config.Manifests = []string{filepath.Join(manifests, "crd.yaml")}
	config.Samples = []string{filepath.Join(manifests, "foo.yaml")}
	command := []string{binary, "--kubeconfig={kubeconfig}", "--namespace={namespace}"}
	written, refused, err := judge.Init(t.Context(), judge.Options{Config: config, Command: command, Target: target}, dir)
	if err != nil || len(refused) > 0 {
		t.Fatal(refused, err)
	}
	testkit.Write(t, dir, map[string]string{"judge.yaml": written})
	read, err := judge.Read(filepath.Join(dir, "judge.yaml"))
	if err != nil {
		t.Fatalf("%v:\n%s", err, written)
	}
	got := fmt.Sprintln(read.Args, read.Unique, read.Owns, read.Ready.Condition, len(read.Mutations))
	want := "[--kubeconfig={kubeconfig} --namespace={namespace}] [spec.deploymentName] [{apps/v1 Deployment}] Ready 2\n"
	if got != want {
		t.Errorf("got %s, want %s\n%s", got, want, written)
	}
}

// bug is a bug of the test operator, and what the judge says about it.
type bug struct{ check, finding string }

// bugs are those of the operator in testoperator_test.go, each with the check that finds it.
var bugs = map[string]bug{
	"it only acts on a new generation":             {"drift", "isn't reverted"},
	"it drops errors":                              {"F4a", "within 20s"},
	"it completes what it has created":             {"writes", "are started twice"},
	"it retries at once":                           {"bad-input", "requests in"},
	"it panics on bad input":                       {"bad-input", "exits unexpectedly"},
	"it polls":                                     {"reads", "polls: list foos"},
	"it works for an object that is being deleted": {"delete-held", "Deployment"},
	"it leaves its objects without an owner":       {"delete-background", "is still there"},
	"it takes over what isn't its own":             {"taken-name", "somebody else"},
	"it replaces the whole object":                 {"foreign-fields", "sidecar"},
	"it writes each time":                          {"quiet", "the operator writes"},
	"it sends an Event each time":                  {"quiet", "the operator writes"},
	"it doesn't observe the generation":            {"observed-generation", "lags behind"},
	"it is ready too soon":                         {"observed-generation", "too soon"},
	"its conditions change without a reason":       {"conditions", "lastTransitionTime"},
	"it ignores SIGTERM":                           {"sigterm", "doesn't exit within"},
	"it fails when it is stopped":                  {"sigterm", "ends with exit status 1"},
	"it ignores changes":                           {"mutations", "expected effect"},
	"a rename leaves the old Deployment":           {"mutations", "expected effect"},
	"it panics at a tombstone":                     {"F2", "panics"},
	"it ignores tombstones":                        {"F2", "isn't back"},
	"it creates what its cache lacks":              {"F9", "too many objects of kind Deployment"},
	"its condition stays Unknown":                  {"converge", "ready"},
	"it misses deletions":                          {"recreate", "doesn't come back"},
	"it gives up if it can't start":                {"start-without-permissions", "doesn't do its work"},
	"it adds its finalizer too late":               {"delete-held", "tries to add a finalizer"},
	"it trusts its cache":                          {"conflicts", "is lost"},
	"it writes each status twice":                  {"writes", "what is already stored"},
	"it reports on somebody else's object":         {"taken-name", "the sample is ready, although it owns nothing"},
	"it removes keys from its ConfigMap":           {"foreign-fields", "data key"},
	"it scales what an autoscaler has scaled":      {"foreign-fields", "resets spec.replicas"},
	"it believes in names":                         {"names", "a deleted sample that had its name"},
	"its selectors are all the same":               {"names", "matches the Pods of another sample"},
	"it can't handle long names":                   {"names", "63 characters doesn't become ready"},
	"it doesn't look at its Deployment":            {"refusals", "its Deployment has no ready Pods"},
	"its conditions contradict each other":         {"refusals", "Available False"},
	"it hides refused writes":                      {"refusals", "status doesn't show it"},
	"its failure stays":                            {"refusals", "Degraded True"},
	"it depends on the order of a map":             {"restart", "after a restart"},
	tooWideWebhooks:                                {"webhooks", "a ConfigMap, a Secret, a Service, a Pod"},
}

// TestBugsAreFound judges each bug by the check that is about it.
func TestBugsAreFound(t *testing.T) {
	t.Parallel()
	for name := range bugs {
		t.Run(name, func(t *testing.T) { isFound(t, name) })
	}
}

// TestThreeBugsAreFound is the short form: one that a user sees, one that an API server sees, and
// one that only a fault shows.
func TestThreeBugsAreFound(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"it takes over what isn't its own", "it polls", "it ignores tombstones"} {
		t.Run(name, func(t *testing.T) { isFound(t, name) })
	}
}

// isFound checks that the judge finds the bug, with evidence.
func isFound(t *testing.T, name string) {
	t.Parallel()
	want := bugs[name]
	// The bug takes all of the second limit, and a slow machine some of the first one.
	result := judgedWith(t, name, time.Minute, 20*time.Second, want.check)[0]
	var found []string
	for _, finding := range result.Findings {
		found = append(found, finding.String())
		if len(finding.Evidence) == 0 {
			t.Errorf("no evidence for %q", finding.What)
		}
	}
	if !strings.Contains(strings.Join(found, "\n"), want.finding) {
		t.Errorf("%s: %s %s: the findings are %q, want one that contains %q\n%s",
			want.check, result.Verdict, result.Why, found, want.finding, result.Log)
	}
}

// A new version is compared with one that has no bug.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	before := filepath.Join(t.TempDir(), "before")
	script := fmt.Sprintf("#!/bin/sh\nexec %s \"$@\" --bug=none\n", self)
	if err := os.WriteFile(before, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for bug, want := range map[string]string{
		"none": "[]",
		"it depends on the order of a map": "[the new version changes what the version before it had finished: " +
			"Deployment (metadata.labels.order)]",
	} {
		t.Run(bug, func(t *testing.T) {
			t.Parallel()
			result := judgedAfter(t, before, bug, limitOfCorrect, limitOfCorrect, "upgrade")[0]
			if got := fmt.Sprint(result.Findings); got != want || result.Why != "" {
				t.Errorf("%s: the findings are %s, want %s\n%s", result.Why, got, want, result.Log)
			}
		})
	}
}

// If no sample becomes ready, the judge says why, and doesn't wait for that in each other check.
func TestTheCauseIsNamed(t *testing.T) {
	t.Parallel()
	results := judgedWith(t, "it elects a leader", 2*time.Second, time.Second, "converge", "drift", "start-without-crd")
	first := fmt.Sprintf("%+v", results[0].Findings[0].Evidence)
	for _, want := range []string{
		"leader election can't start", "exits: exit status 1", "unable to find leader election namespace",
	} {
		if !strings.Contains(first, want) {
			t.Errorf("converge: %s lacks %q", first, want)
		}
	}
	for _, other := range results[1:] {
		if took := other.Ended.Sub(other.Began); other.Verdict != judge.Unjudged || took > time.Second {
			t.Errorf("%s: %s after %v, want that it isn't tried", other.Check.Name, other.Verdict, took)
		}
	}
}

// The operator without a bug is never accused. (TestJudge in scripts/acceptance runs the check cost on
// the chapters' programs.)
func TestNoBugIsFound(t *testing.T) {
	t.Parallel()
	var others []string
	for _, check := range judge.All() {
		if check.Name != "cost" {
			others = append(others, check.Name)
		}
	}
	foundNothing(t, judgedWith(t, "none", limitOfCorrect, limitOfCorrect, others...))
}

// The same operator may have Foos without a namespace. Then its checks run one after another, so there
// are fewer here.
func TestNoBugIsFoundWithoutNamespaces(t *testing.T) {
	t.Parallel()
	foundNothing(t, judgedWith(t, clusterScoped, limitOfCorrect, limitOfCorrect, "converge", "mutations", "drift", "names",
		"taken-name", "refusals", "delete-foreground", "delete-held", "delete-namespace", "conditions", "F5"))
}

// Without a kubeconfig, client-go looks for the API server as in a Pod.
func TestInCluster(t *testing.T) {
	t.Parallel()
	if err := operators.CanImitatePods(); err != nil {
		t.Skip(err)
	}
	foundNothing(t, judgedWith(t, inCluster, limitOfCorrect, limitOfCorrect, "converge", "recreate", "restart", "F1", "F5"))
}

// The API server calls the operator's webhooks, so bad input doesn't even reach its reconciler.
func TestWebhooks(t *testing.T) {
	t.Parallel()
	results := judgedWith(t, withWebhooks, limitOfCorrect, limitOfCorrect, "webhooks", "bad-input", "restart", "F5")
	foundNothing(t, results)
	const want = "[while the operator is down, the API server accepts new samples: false]"
	if got := fmt.Sprint(results[0].Measures); got != want {
		t.Errorf("webhooks measured %s, want %s", got, want)
	}
}

// With --lens, the page shows the operator's requests until Ctrl-C.
func TestLens(t *testing.T) {
	t.Parallel()
	target, _ := testkit.Cluster(t)
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var output process.Buffer
	command := judge.Command(judge.Host{Cluster: func(context.Context) (*rest.Config, error) { return target, nil }})
	command.SetOut(&output)
	file := filepath.Join(testkit.Repository(), "scripts", "judge", "chapters", "01-raw-watch", "judge.yaml")
	command.SetArgs([]string{"--lens", "-f", file, "--", binary})
	ended := make(chan error, 1)
	go func() { ended <- command.ExecuteContext(ctx) }()
	testkit.Await(t, limitOfCorrect, "lens shows a request", func() error {
		response, err := http.Get(regexp.MustCompile(`http://\S+`).FindString(output.String()) + "items")
		if err != nil {
			return err
		}
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if strings.Contains(lines.Text(), `"lane":"requests"`) {
				return nil
			}
		}
		return fmt.Errorf("the page ends: %w", lines.Err())
	})
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("got error %v after Ctrl-C, want none", err)
	}
}

// The checks run for each kind, except those that are about the whole program.
func TestSeveralKinds(t *testing.T) {
	t.Parallel()
	results := judgedWith(t, severalKinds, limitOfCorrect, limitOfCorrect, "converge", "sigterm", "recreate")
	foundNothing(t, results)
	var ran []string
	for _, result := range results {
		ran = append(ran, result.Check.Name+" of "+result.Kind)
	}
	want := []string{"converge of Foo", "sigterm of ", "recreate of Foo", "converge of Deployment", "recreate of Deployment"}
	if !slices.Equal(ran, want) {
		t.Errorf("the checks were %q, want %q", ran, want)
	}
}

// foundNothing checks that there are no findings, and that each check has a verdict.
func foundNothing(t *testing.T, results []judge.Result) {
	t.Helper()
	for _, result := range results {
		for _, finding := range result.Findings {
			t.Errorf("%s: %s %+v", result.Check.Name, finding, finding.Evidence)
		}
		if result.Verdict == judge.Failed || result.Verdict == judge.Unjudged {
			t.Errorf("%s couldn't be judged: %s", result.Check.Name, result.Why)
		}
	}
}
