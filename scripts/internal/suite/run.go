package suite

// Running commands such as go test, their environment, and the tests' clusters.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// withoutWorkspace has a module tested with its own go.mod, and not with go.work.
var withoutWorkspace = []string{"GOWORK=off"}

// runCommand runs a command in a folder, with more variables, and returns its standard output.
func runCommand(ctx context.Context, dir string, env []string, command ...string) (string, error) {
	cmd := process.NewCommand(ctx, 5*time.Second, command[0], command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", filepath.Base(command[0]), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

// testStep is a step that runs go test: see goTest.
func (s *Suite) testStep(ctx context.Context, what, module string, env []string, args ...string) {
	s.step(ctx, what, func(step *ui.Step) (string, error) { return s.goTest(ctx, step, module, env, args...) })
}

// goTest runs go test in a module, with args: flags, then packages. A skipped test is an error.
func (s *Suite) goTest(
	ctx context.Context, step *ui.Step, module string, env []string, args ...string,
) (string, error) {
	started := 0
	results, err := gotest.Run(ctx, gotest.Request{
		Dir:  filepath.Join(s.Root, module),
		Env:  env,
		Args: append([]string{"-timeout=20m", "-vet=off"}, args...), // lint runs vet already
		Progress: func(test string) {
			started++
			step.Update("%d: %s", started, test)
		},
	})
	s.passed += results.Passed()
	switch problems := results.Problems(); {
	case err != nil:
	case len(problems) > 0:
		err = errors.New(strings.Join(problems, "\n"))
	case results.Passed() == 0:
		err = errors.New("no test was run")
	}
	return fmt.Sprintf("%d passed", results.Passed()), err
}

// testEnvironment returns the environment of the tests: the cluster and the chapters to test on it.
// Go caches a passed test until its environment changes. So each run has its own path to the
// cluster's kubeconfig, but tests with an API server of their own (envtest) stay cached.
func (s *Suite) testEnvironment(c cluster.Backend, judged ...chapters.Chapter) []string {
	bin := binOf(s.Root)
	return []string{
		"GOWORK=off",
		"TEST_KUBECONFIG=" + s.uniquely(c.Kubeconfig()),
		"TEST_AUDIT_LOG=" + c.AuditLog(),
		"TEST_KUBECTL=" + s.kubectl(c).Binary,
		"TEST_CHAPTERS=" + strings.Join(chapters.Names(judged), ","),
		"TEST_CLUSTER=" + c.Name(),
		"WORKSHOP_TEST_BIN=" + bin,
		"KUBEBUILDER_ASSETS=" + bin,                 // for envtest
		"KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m", // envtest's 20 seconds are too short for a slow machine
	}
}

// onCluster runs tests on a new cluster. It deletes the cluster if all is green, and otherwise keeps
// it for you to inspect.
func (s *Suite) onCluster(ctx context.Context, c cluster.Backend, tests func()) {
	before := len(s.failed)
	if s.freshCluster(ctx, c) {
		tests()
	}
	switch {
	case ctx.Err() != nil || len(s.failed) == before:
		s.removeCluster(ctx, c)
	case c.Exists():
		s.UI.Say("! cluster %q stays up: WORKSHOP_CLUSTER=%[1]s ./scripts/workshop --on %s status", c.Name(), c.Nodes())
	}
}

func (s *Suite) freshCluster(ctx context.Context, c cluster.Backend) bool {
	what := fmt.Sprintf("cluster %q of %s", c.Name(), c.Nodes())
	return s.step(ctx, what, func(step *ui.Step) (string, error) {
		if _, err := c.Down(ctx, true, func(holder string) { step.Update("waiting for %s", holder) }); err != nil {
			return "", err
		}
		outcome, err := c.Up(ctx, func(doing string) { step.Update("%s", doing) })
		return string(outcome), err
	})
}

func (s *Suite) removeCluster(ctx context.Context, c cluster.Backend) {
	if _, err := c.Down(context.WithoutCancel(ctx), true, func(string) {}); err != nil {
		s.failed = append(s.failed, fmt.Sprintf("removing cluster %q", c.Name()))
		s.UI.Say("%s", problem.Format(err))
	}
}

func (s *Suite) kubectl(c cluster.Backend) cluster.Kubectl { return cluster.KubectlFor(s.Root, c) }

// applyCRDs applies a CRD of each kind that the chapters' programs manage.
func (s *Suite) applyCRDs(ctx context.Context, k cluster.Kubectl) bool {
	return s.step(ctx, "the CRDs that tests need", func(*ui.Step) (string, error) {
		var applied []string
		for _, chapter := range s.Chapters {
			for _, kind := range []string{chapters.Foo, chapters.TDSet} {
				p, found, err := program.Of(chapter, kind)
				if found && err == nil && !slices.Contains(applied, kind) {
					err = k.ApplyCRD(ctx, p.CRD)
					applied = append(applied, kind)
				}
				if err != nil {
					return "", err
				}
			}
		}
		return strings.Join(applied, ", "), nil
	})
}
