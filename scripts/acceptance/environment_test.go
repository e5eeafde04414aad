// What all tests share: the cluster, and the programs, built once.

package acceptance

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
)

var foosResource = schema.GroupVersionResource{Group: "samplecontroller.k8s.io", Version: "v1alpha1", Resource: "foos"}

// environment is one cluster and the chapters that are to be judged on it.
type environment struct {
	config   *rest.Config
	client   kubernetes.Interface
	dynamic  dynamic.Interface
	kubectl  kubectl.Kubectl
	auditLog string
	chapters []chapters.Chapter
	programs string        // the folder with their programs, by their names
	applied  string        // the chapter whose CRD and permissions were applied last
	patience time.Duration // bounds every wait
}

// patience bounds every wait, unless TEST_PATIENCE says otherwise. It is long since a loaded machine is slow, and costs nothing
// when all is well.
const patience = 120 * time.Second

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
	env := &environment{auditLog: os.Getenv("TEST_AUDIT_LOG"), programs: os.Getenv("TEST_PROGRAMS"), patience: patience}
	if env.auditLog == "" {
		return nil, fmt.Errorf("TEST_AUDIT_LOG is not set: name the audit log file of the API server")
	}
	if limit := os.Getenv("TEST_PATIENCE"); limit != "" {
		if env.patience, err = time.ParseDuration(limit); err != nil {
			return nil, fmt.Errorf("TEST_PATIENCE: %w", err)
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
	env.kubectl = kubectl.Kubectl{Binary: "kubectl", Kubeconfig: kubeconfig}
	if binary := os.Getenv("TEST_KUBECTL"); binary != "" {
		env.kubectl.Binary = binary
	}

	var names []string
	if list := os.Getenv("TEST_CHAPTERS"); list != "" {
		names = strings.Split(list, ",")
	}
	if env.chapters, err = chapters.Find(root, names...); err != nil {
		return nil, err
	}
	if env.programs == "" {
		err = env.build()
	}
	return env, err
}

// build builds the programs, where they weren't brought along.
func (e *environment) build() error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	var err error
	if e.programs, err = os.MkdirTemp("", "acceptance-"); err != nil {
		return err
	}
	removeAtExit = e.programs
	for _, chapter := range e.chapters {
		p, err := program.OfChapter(chapter)
		if err != nil {
			return err
		}
		if _, err := p.Build(ctx, e.programs); err != nil {
			return err
		}
	}
	return nil
}

// apply applies the chapter's CRD and permissions.
func (e *environment) apply(ctx context.Context, chapter chapters.Chapter) error {
	p, err := program.OfChapter(chapter)
	if err != nil {
		return err
	}
	return p.Apply(ctx, e.kubectl)
}

// removeAtExit is a folder that TestMain removes in the end.
var removeAtExit string

func TestMain(m *testing.M) {
	code := m.Run()
	if removeAtExit != "" {
		os.RemoveAll(removeAtExit)
	}
	os.Exit(code)
}

// forEachChapter runs test for each chapter that is wanted (nil: all are), one chapter after the other: each brings its own
// CRD and permissions.
func forEachChapter(t *testing.T, wanted func(chapters.Chapter) bool, test func(t *testing.T, env *environment, chapter chapters.Chapter)) {
	env := testEnvironment(t)
	for _, chapter := range env.chapters {
		if wanted != nil && !wanted(chapter) {
			continue
		}
		t.Run(chapter.Name, func(t *testing.T) {
			if env.applied != chapter.Name {
				if err := env.apply(t.Context(), chapter); err != nil {
					t.Fatal(err)
				}
				env.applied = chapter.Name
			}
			test(t, env, chapter)
		})
	}
}

// alone runs a test that nothing may run beside, for each chapter that is wanted. Unless it takes long, its name begins with that
// of a promise or fault, by which a reader runs it.
func alone(t *testing.T, name string, wanted func(chapters.Chapter) bool, test func(t *testing.T, s *scenario)) {
	forEachChapter(t, wanted, func(t *testing.T, env *environment, chapter chapters.Chapter) {
		t.Run(name, func(t *testing.T) { test(t, newScenario(t, env, chapter)) })
	})
}
