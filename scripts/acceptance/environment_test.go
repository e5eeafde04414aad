package acceptance

// This file has what all tests share: the cluster, and the programs, which are built once.

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
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/program"
)

// resources are the API's names for the objects of each kind.
var resources = map[string]schema.GroupVersionResource{
	chapters.Foo:   {Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"},
	chapters.TDSet: {Group: "schedule.rs", Version: "v1", Resource: "tdsets"},
}

// resource is the API's name for the objects of the program's kind, in the version that its CRD
// stores.
func (j judged) resource() schema.GroupVersionResource {
	resource := resources[j.Kind]
	resource.Version = j.apiVersion
	return resource
}

// environment is a cluster and the programs to judge on it.
type environment struct {
	config   *rest.Config
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	kubectl  cluster.Kubectl
	auditLog string
	chapters []chapters.Chapter
	all      []judged
	programs string            // the folder with the programs, by their names
	applied  map[string]string // by kind, the program whose CRD and permissions were applied last
	timeout  time.Duration     // bounds every wait
	// disposable clusters are deleted after the tests. So the tests don't delete their namespaces,
	// because each deletion takes almost a hundred requests.
	disposable bool
}

// judged is a program and the contract by which it is judged.
type judged struct {
	contract.Contract
	chapter chapters.Chapter
	program program.Program
	// apiVersion is that of the tests' own requests, such as v1.
	apiVersion string
}

// holds reports whether the program is declared to keep the promise, or all promises through the
// fault.
func (j judged) holds(name string) bool {
	return j.WhyNotHeld(j.chapter, name) == "" && j.WhyNotTested(j.chapter, name) == ""
}

// hasQueue reports whether the program retries failed work with a backoff, and records Events. In 01
// and 02, the Foo controller only tries again when something else happens to the object, and the
// TDSet controller waits a minute.
func (j judged) hasQueue() bool { return j.chapter.Number() >= "03" }

// isFull reports whether it is the chapter's own program. An exercise's solution does less.
func (j judged) isFull() bool { return j.Kind == j.chapter.Kind() }

// These bound every wait, with simulated Pods and with real containers, unless TEST_TIMEOUT is set.
// They are long because a loaded machine is slow, and cost nothing if all is well.
const (
	timeout               = 120 * time.Second
	timeoutWithContainers = 300 * time.Second
)

// environmentOnce builds the programs when a test first needs them.
var environmentOnce = sync.OnceValues(newEnvironment)

func testEnvironment(t testing.TB) *environment {
	t.Helper()
	if os.Getenv("TEST_KUBECONFIG") == "" {
		t.Skip("needs a cluster to change as it likes: run ./scripts/workshop test, " +
			"or set TEST_KUBECONFIG and TEST_AUDIT_LOG")
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
		auditLog: os.Getenv("TEST_AUDIT_LOG"), applied: map[string]string{}, timeout: timeout,
		disposable: os.Getenv("TEST_DISPOSABLE") != "",
	}
	if env.auditLog == "" {
		return nil, fmt.Errorf("TEST_AUDIT_LOG is not set: set it to the file of the API server's audit log")
	}
	if kindNode() != "" {
		env.timeout = timeoutWithContainers
	}
	if limit := os.Getenv("TEST_TIMEOUT"); limit != "" {
		if env.timeout, err = time.ParseDuration(limit); err != nil {
			return nil, fmt.Errorf("TEST_TIMEOUT: %w", err)
		}
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
	env.kubectl = cluster.Kubectl{Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: kubeconfig}
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
	env.chapters = found
	for _, c := range contract.All() {
		for _, chapter := range found {
			p, found, err := program.Of(chapter, c.Kind)
			if err != nil {
				return nil, err
			}
			if !found || os.Getenv("TEST_OWN") != "" && c.Kind != chapter.Kind() {
				continue
			}
			version, err := p.StoredVersion()
			if err != nil {
				return nil, err
			}
			env.all = append(env.all, judged{c, chapter, p, version})
		}
	}
	return env, env.build(filepath.Join(root, ".workshop", "bin"))
}

// build builds the programs in the folder that tours and readers use too. It doesn't rebuild those
// that are up to date.
func (e *environment) build(folder string) error {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Minute)
	defer cancel()
	e.programs = folder
	for _, judged := range e.all {
		if _, err := judged.program.Build(ctx, e.programs); err != nil {
			return err
		}
	}
	return nil
}

// apply applies the program's CRD and permissions, unless they were the last ones applied for its
// kind.
func (e *environment) apply(ctx context.Context, p program.Program) error {
	if e.applied[p.Kind] == p.Name {
		return nil
	}
	if err := p.Apply(ctx, e.kubectl); err != nil {
		return err
	}
	if err := e.convert(ctx, p); err != nil {
		return err
	}
	e.applied[p.Kind] = p.Name
	return nil
}

// forEachChapter runs test for each program of that kind that include accepts (nil accepts all),
// one after the other, because each brings its own CRD and permissions.
func forEachChapter(t *testing.T, kind string, include func(judged) bool,
	test func(t *testing.T, env *environment, j judged)) {
	env := testEnvironment(t)
	for _, j := range env.programsFor(kind, include) {
		t.Run(j.chapter.Name, func(t *testing.T) {
			if err := env.apply(t.Context(), j.program); err != nil {
				t.Fatal(err)
			}
			test(t, env, j)
		})
	}
}

// forChaptersAtOnce is forEachChapter for a test whose parts run in parallel, each in its own
// namespace. Programs with the same CRD are judged at the same time.
func forChaptersAtOnce(t *testing.T, kind string, include func(judged) bool,
	test func(t *testing.T, env *environment, j judged)) {
	env := testEnvironment(t)
	groups, err := sameCRD(env.programsFor(kind, include))
	if err != nil {
		t.Fatal(err)
	}
	for i, group := range groups {
		if err := env.apply(t.Context(), group[0].program); err != nil {
			t.Fatal(err)
		}
		for _, j := range group {
			t.Run(j.chapter.Name, func(t *testing.T) {
				// Parallel tests run when all others have ended, so the last CRD must be theirs.
				if i == len(groups)-1 {
					t.Parallel()
				}
				test(t, env, j)
			})
		}
	}
}

// programsFor returns the programs of that kind that include accepts; nil accepts all.
func (e *environment) programsFor(kind string, include func(judged) bool) (all []judged) {
	for _, j := range e.all {
		if j.Kind == kind && (include == nil || include(j)) {
			all = append(all, j)
		}
	}
	return all
}

// sameCRD groups programs whose CRDs mean the same. The largest group is last.
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

// meaning is what a CRD makes the API server do, as JSON. Two files may mean the same although they
// differ in descriptions, messages, annotations, or the order of keys and required fields. It
// leaves out the schema of conditions, which are metav1.Conditions in every CRD.
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

// simplify removes what meaning leaves out.
func simplify(node any) {
	switch node := node.(type) {
	case map[string]any:
		for _, key := range []string{"description", "message"} {
			if _, isText := node[key].(string); isText { // and not a field of that name
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

// sideBySide runs a test for each program that include accepts, all at the same time.
func sideBySide(t *testing.T, kind, name string, include func(judged) bool, test func(t *testing.T, s *scenario)) {
	forChaptersAtOnce(t, kind, include, func(t *testing.T, env *environment, j judged) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, newScenario(t, env, j))
		})
	})
}

// alone runs a test for each program that include accepts, with nothing beside it. Unless it takes
// long, its name begins with that of a promise or fault, so that --only can run it.
func alone(t *testing.T, kind, name string, include func(judged) bool, test func(t *testing.T, s *scenario)) {
	forEachChapter(t, kind, include, func(t *testing.T, env *environment, j judged) {
		t.Run(name, func(t *testing.T) { test(t, newScenario(t, env, j)) })
	})
}
