// Package acceptance is the behaviour contract of the Foo operator, and that of the TDSet operator. Its tests build a chapter's programs,
// start them with a kubeconfig of their own, and look only at the API server: at the objects and at the audit log. So the same tests
// judge every chapter, whatever it is made of. A chapter about Foos has two programs: its own, and the solution of its exercise TDSet.
//
// What is promised, and which chapter keeps it through which fault, is declared in package contract; MATRIX.md shows that to readers.
// Here are the tests: those about TDSets are in the files whose names begin with tdset. They are called
// Test…/CHAPTER/PROMISE OR FAULT, as in TestContract/01-raw-watch/B4 drift: is put back.
//
//	./scripts/workshop test 01 --only B4   brings up a cluster for it and runs just these
//	TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=01 go test ./acceptance -parallel 8 -run /01/B4
//
// The same tests run on kind, where the node is a container and Pods are real. TEST_KIND_NODE names that container; it has to have the
// images that contract.Images lists, and contract.LeftOut says what isn't asked there. With TEST_IN_CLUSTER=1 the chapters' own
// programs run as Pods, from 03 on, and have to be on the node as images, too.
//
//	TEST_KIND_NODE=… TEST_IN_CLUSTER=1 TEST_KUBECONFIG=… TEST_AUDIT_LOG=… TEST_CHAPTERS=03 go test ./acceptance -parallel 4 -run /03/F7
package acceptance

// This file has what all tests share: the cluster, and the programs, built once.

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
)

// resources are what the API calls the objects of each kind.
var resources = map[string]schema.GroupVersionResource{
	chapters.Foo:   {Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"},
	chapters.TDSet: {Group: "schedule.rs", Version: "v1", Resource: "tdsets"},
}

// environment is one cluster and the programs that are to be judged on it.
type environment struct {
	config   *rest.Config
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	kubectl  kubectl.Kubectl
	auditLog string
	all      []judged
	programs string            // the folder with the programs, by their names
	raced    string            // the same, built with the race detector if TEST_RACE is set
	applied  map[string]string // by kind, the program whose CRD and permissions were applied last
	patience time.Duration     // bounds every wait
	// disposable clusters are deleted after the tests, so the tests don't delete their namespaces:
	// each deletion takes almost a hundred requests.
	disposable bool
}

// judged is a program that is held to a contract.
type judged struct {
	contract.Contract
	chapter chapters.Chapter
	program program.Program
}

// holds reports whether the program is declared to keep the promise, or all promises through the
// fault.
func (j judged) holds(name string) bool {
	return j.WhyNotHeld(j.chapter, name) == "" && j.WhyNotTested(j.chapter, name) == "" && whyLeftOut(name) == ""
}

// isFull reports whether it is the chapter's own program, and not an exercise's solution, which is as
// much as its chapter's means allow.
func (j judged) isFull() bool { return j.Kind == j.chapter.Kind() }

// runsInCluster reports whether it can: the chapter has to have a Deployment for it. Exercises have
// none.
func (j judged) runsInCluster() bool {
	_, found, err := deploymentOf(j.chapter)
	return j.isFull() && (found || err != nil) // an error is for the tests to show
}

// patience bounds every wait, unless TEST_TIMEOUT says otherwise: where Pods are simulated, and
// where containers have to be started. It is long since a loaded machine is slow, and costs nothing
// when all is well.
const (
	patience               = 120 * time.Second
	patienceWithContainers = 300 * time.Second
)

// environmentOnce builds the programs the first time that a test asks for them.
var environmentOnce = sync.OnceValues(newEnvironment)

func testEnvironment(t testing.TB) *environment {
	t.Helper()
	if os.Getenv("TEST_KUBECONFIG") == "" {
		t.Skip("needs a cluster to change as it likes: run ./scripts/workshop test, or set TEST_KUBECONFIG and TEST_AUDIT_LOG")
	}
	env, err := environmentOnce()
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func newEnvironment() (*environment, error) {
	root, err := filepath.Abs("../..")
	if err != nil {
		return nil, err
	}
	env := &environment{
		auditLog: os.Getenv("TEST_AUDIT_LOG"), applied: map[string]string{}, patience: patience, disposable: os.Getenv("TEST_DISPOSABLE") != "",
	}
	if env.auditLog == "" {
		return nil, fmt.Errorf("TEST_AUDIT_LOG is not set: name the audit log file of the API server")
	}
	if kindNode() != "" {
		env.patience = patienceWithContainers
	}
	if limit := os.Getenv("TEST_TIMEOUT"); limit != "" {
		if env.patience, err = time.ParseDuration(limit); err != nil {
			return nil, fmt.Errorf("TEST_TIMEOUT: %w", err)
		}
	}
	if inCluster() && kindNode() == "" {
		return nil, fmt.Errorf("TEST_IN_CLUSTER needs real containers: name the container of kind's node in TEST_KIND_NODE")
	}
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if env.config, err = clientcmd.BuildConfigFromFlags("", kubeconfig); err != nil {
		return nil, fmt.Errorf("TEST_KUBECONFIG: %w", err)
	}
	env.config.QPS = -1
	if env.client, err = kubernetes.NewForConfig(env.config); err != nil {
		return nil, err
	}
	if env.dynamic, err = dynamic.NewForConfig(env.config); err != nil {
		return nil, err
	}
	env.kubectl = kubectl.Kubectl{Binary: "kubectl", Kubeconfig: kubeconfig}
	if binary := os.Getenv("TEST_KUBECTL"); binary != "" {
		env.kubectl.Binary = binary
	}

	var names []string
	if list := os.Getenv("TEST_CHAPTERS"); list != "" {
		names = strings.Split(list, ",")
	}
	found, err := chapters.Find(root, names...)
	if err != nil {
		return nil, err
	}
	for _, c := range contract.All() {
		for _, chapter := range found {
			p, found, err := program.Of(chapter, c.Kind)
			if err != nil {
				return nil, err
			}
			if j := (judged{c, chapter, p}); found && (!inCluster() || j.runsInCluster()) {
				env.all = append(env.all, j)
			}
		}
	}
	if !inCluster() {
		err = env.build(filepath.Join(root, ".workshop", "bin"))
	}
	return env, err
}

// build builds the programs in the folder that tours and readers use, too. It doesn't rebuild those
// that are up to date.
func (e *environment) build(folder string) error {
	// With empty caches, and beside the suite's other lanes, this has taken more than 10 minutes.
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	e.programs, e.raced = folder, folder
	if os.Getenv("TEST_RACE") != "" {
		e.raced = filepath.Join(folder, "race")
	}
	for _, judged := range e.all {
		if _, err := judged.program.Build(ctx, e.programs); err != nil {
			return err
		}
		if e.raced == e.programs {
			continue
		}
		if _, err := judged.program.WithRaceDetector().Build(ctx, e.raced); err != nil {
			return err
		}
	}
	return nil
}

// apply applies the program's CRD and permissions, if it isn't the last one for whose kind that was
// done.
func (e *environment) apply(ctx context.Context, p program.Program) error {
	if e.applied[p.Kind] == p.Name {
		return nil
	}
	if err := p.Apply(ctx, e.kubectl); err != nil {
		return err
	}
	e.applied[p.Kind] = p.Name
	return nil
}

// forEachChapter runs test for each chapter's program that is held to that kind's contract and
// wanted (nil: all are), one after the other: each brings its own CRD and permissions.
func forEachChapter(t *testing.T, kind string, wanted func(judged) bool, test func(t *testing.T, env *environment, j judged)) {
	env := testEnvironment(t)
	for _, j := range env.wanted(kind, wanted) {
		t.Run(j.chapter.Name, func(t *testing.T) {
			if err := env.apply(t.Context(), j.program); err != nil {
				t.Fatal(err)
			}
			test(t, env, j)
		})
	}
}

// forChaptersAtOnce is forEachChapter for a test whose parts run in parallel, each in a namespace
// of its own: the programs that have the same CRD are judged at the same time.
func forChaptersAtOnce(t *testing.T, kind string, wanted func(judged) bool, test func(t *testing.T, env *environment, j judged)) {
	env := testEnvironment(t)
	groups, err := sameCRD(env.wanted(kind, wanted))
	if err != nil {
		t.Fatal(err)
	}
	for i, group := range groups {
		if err := env.apply(t.Context(), group[0].program); err != nil {
			t.Fatal(err)
		}
		for _, j := range group {
			t.Run(j.chapter.Name, func(t *testing.T) {
				if i == len(groups)-1 { // what is parallel begins when all else has ended: then this CRD is the last
					t.Parallel()
				}
				test(t, env, j)
			})
		}
	}
}

// wanted are the programs that are held to that kind's contract and wanted; nil: all are.
func (e *environment) wanted(kind string, wanted func(judged) bool) (all []judged) {
	for _, j := range e.all {
		if j.Kind == kind && (wanted == nil || wanted(j)) {
			all = append(all, j)
		}
	}
	return all
}

// sameCRD sorts programs into groups whose CRDs mean the same, the largest one last.
func sameCRD(all []judged) (groups [][]judged, err error) {
	at := map[string]int{}
	for _, j := range all {
		crd, err := meaning(j.program.CRD)
		if err != nil {
			return nil, err
		}
		i, known := at[crd]
		if !known {
			i, groups = len(groups), append(groups, nil)
			at[crd] = i
		}
		groups[i] = append(groups[i], j)
	}
	slices.SortStableFunc(groups, func(a, b []judged) int { return len(a) - len(b) })
	return groups, nil
}

// meaning is what a CRD makes the API server do, as JSON. Two files may mean the same though they
// differ in descriptions, messages and annotations, or in the order of keys and of required fields.
// The schema of conditions isn't compared: they are metav1.Conditions in every CRD.
func meaning(file string) (string, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(content, &crd); err != nil {
		return "", fmt.Errorf("%s: %w", file, err)
	}
	simplify(crd)
	meant, err := json.Marshal(crd) // its keys are sorted
	return string(meant), err
}

// simplify removes from a node of a CRD, and from those below it, what meaning doesn't compare.
func simplify(node any) {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range []string{"description", "message"} {
			if _, isText := node[key].(string); isText { // and no field of that name
				delete(node, key)
			}
		}
		delete(node, "annotations")
		delete(node, "conditions")
		if required, isList := node["required"].([]any); isList {
			slices.SortFunc(required, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
		}
		for _, child := range node {
			simplify(child)
		}
	case []any:
		for _, child := range node {
			simplify(child)
		}
	}
}

// sideBySide runs a test for each chapter's program that is wanted, all at the same time.
func sideBySide(t *testing.T, kind, name string, wanted func(judged) bool, test func(t *testing.T, s *scenario)) {
	forChaptersAtOnce(t, kind, wanted, func(t *testing.T, env *environment, j judged) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScenario(t, env, j))
		})
	})
}

// alone runs a test that nothing may run beside, for each chapter's program that is wanted. Unless
// it takes long, its name begins with that of a promise or fault, by which a reader runs it.
func alone(t *testing.T, kind, name string, wanted func(judged) bool, test func(t *testing.T, s *scenario)) {
	forEachChapter(t, kind, wanted, func(t *testing.T, env *environment, j judged) {
		t.Run(name, func(t *testing.T) { test(t, newScenario(t, env, j)) })
	})
}
