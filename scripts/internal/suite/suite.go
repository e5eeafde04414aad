// Package suite is what `workshop test` runs, and CI with it: checks, vet and staticcheck, every test of every module on a
// cluster of its own, the behaviour contract, and the texts. It decides what is run and what counts as green; each check
// itself lives elsewhere.
package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/checks"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// clusterName is the cluster that tests change as they like. It is made anew for each run, beside the user's own.
const clusterName = "test"

// Suite is one run.
type Suite struct {
	Root string // of the repository
	Bin  string // where the control plane's programs are
	UI   *ui.UI
	// Chapters are those to test. With Everything, what belongs to no chapter is tested as well.
	Chapters   []chapters.Chapter
	Everything bool

	counts gotest.Counts
	race   []string // arguments to go test
}

// Run runs all of it, also after a failure, and returns the number of tests. The error tells whether all was green; the
// reasons have been printed.
func (s *Suite) Run(ctx context.Context) (gotest.Counts, error) {
	if err := s.findRace(ctx); err != nil {
		return s.counts, err
	}
	s.step(ctx, "layout, formatting, versions", s.checkFiles)
	s.step(ctx, "vet and staticcheck", s.lint)
	s.tests(ctx)
	s.texts(ctx)
	if ctx.Err() != nil {
		return s.counts, ctx.Err()
	}
	if s.counts.Failed+s.counts.Skipped > 0 {
		return s.counts, errors.New("not all is green: the reasons stand above")
	}
	return s.counts, nil
}

// step runs one part and shows what came of it. A part returns a word on what it did.
func (s *Suite) step(ctx context.Context, what string, part func(context.Context, *ui.Step) (string, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	step := s.UI.Start(what)
	before := s.counts
	summary, err := part(ctx, step)
	if err != nil {
		if s.counts.Failed+s.counts.Skipped == before.Failed+before.Skipped {
			s.counts.Failed++ // no test has failed: the step itself has
		}
		step.Fail()
		if ctx.Err() == nil {
			s.UI.Say("%s", problem.Format(err))
		}
		return false
	}
	step.Done("%s: %s", what, summary)
	return true
}

// findRace decides whether the race detector can run: it needs a C compiler.
func (s *Suite) findRace(ctx context.Context) error {
	output, err := exec.CommandContext(ctx, "go", "env", "CC").Output()
	if err != nil {
		return fmt.Errorf("go env CC: %w", err)
	}
	compiler, _, _ := strings.Cut(strings.TrimSpace(string(output)), " ")
	if _, err := exec.LookPath(compiler); err == nil {
		s.race = []string{"-race"}
		return nil
	}
	if os.Getenv("CI") == "true" {
		return &problem.Problem{
			What: fmt.Sprintf("there is no C compiler (%s), which the race detector needs", compiler),
			Mend: "install one, such as Debian's gcc; it is left out only where CI isn't set",
		}
	}
	s.UI.Say("! no C compiler (%s): the tests run without the race detector", compiler)
	return nil
}

func (s *Suite) checkFiles(ctx context.Context, _ *ui.Step) (string, error) {
	problems, err := checks.All(ctx, s.Root)
	if err == nil && len(problems) > 0 {
		err = errors.New(strings.Join(problems, "\n"))
	}
	return "fine", err
}

// modules are the folders of the modules to test.
func (s *Suite) modules() []string {
	var modules []string
	for _, chapter := range s.Chapters {
		modules = append(modules, chapter.Name)
	}
	if s.Everything {
		modules = append(modules, "scripts")
	}
	return modules
}

func (s *Suite) lint(ctx context.Context, step *ui.Step) (string, error) {
	staticcheck := filepath.Join(s.Root, ".workshop", "bin", "staticcheck")
	if err := s.run(ctx, "scripts", "go", "build", "-o", staticcheck, "honnef.co/go/tools/cmd/staticcheck"); err != nil {
		return "", err
	}
	var err error
	for _, module := range s.modules() {
		step.Update("%s", module)
		err = errors.Join(err, s.run(ctx, module, "go", "vet", "./..."), s.run(ctx, module, staticcheck, "./..."))
	}
	return "fine", err
}

// run runs a command in one module, alone as a reader would who has copied its folder away.
func (s *Suite) run(ctx context.Context, module string, command ...string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = filepath.Join(s.Root, module)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %s: %w\n%s", module, filepath.Base(command[0]), err, output)
	}
	return nil
}

// tests runs every test of the modules, then the contract, on a fresh cluster. That is removed if all went well, and left
// to look at otherwise.
func (s *Suite) tests(ctx context.Context) {
	c := cluster.New(s.Root, s.Bin, clusterName)
	if !s.freshCluster(ctx, c) {
		return
	}
	kubectl := kubectl.Kubectl{Binary: filepath.Join(s.Bin, "kubectl"), Kubeconfig: c.Kubeconfig()}
	var names []string
	for _, chapter := range s.Chapters {
		names = append(names, chapter.Name)
	}
	env := []string{
		"GOWORK=off",
		"TEST_KUBECONFIG=" + c.Kubeconfig(),
		"TEST_AUDIT_LOG=" + c.AuditLog(),
		"TEST_KUBECTL=" + kubectl.Binary,
		"TEST_CHAPTERS=" + strings.Join(names, ","),
		"TEST_CLUSTER=" + c.Name,
		"WORKSHOP_TEST_BIN=" + s.Bin,
	}

	green := true
	for _, chapter := range s.Chapters {
		green = s.step(ctx, chapter.Name+": unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
			if err := kubectl.ApplyChapter(ctx, chapter.Manifest("")); err != nil {
				return "", err
			}
			return s.goTest(ctx, step, chapter.Name, env, "./...")
		}) && green
	}
	for _, chapter := range s.Chapters {
		green = s.step(ctx, chapter.Name+": exercises fail as given, and pass as solved", func(ctx context.Context, step *ui.Step) (string, error) {
			proof, err := exercises.Prove(ctx, exercises.ProofOptions{
				Root: s.Root, Chapter: chapter, Args: s.race, Env: env,
				Progress: func(test string) { step.Update("%s", test) },
			})
			s.counts = s.counts.Plus(proof.Counts)
			if err == nil && len(proof.Problems) > 0 {
				err = errors.New(strings.Join(proof.Problems, "\n"))
			}
			return fmt.Sprintf("%d exercises", proof.Exercises), err
		}) && green
	}
	if s.Everything {
		green = s.step(ctx, "scripts: unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
			return s.goTest(ctx, step, "scripts", env, "./cmd/...", "./internal/...")
		}) && green
	}
	for _, chapter := range s.Chapters {
		green = s.step(ctx, chapter.Name+": the guided tour", func(ctx context.Context, step *ui.Step) (string, error) {
			tour := demo.Demo{Root: s.Root, Bin: s.Bin, Chapter: chapter, Cluster: c, Out: io.Discard}
			return "every step held", tour.Run(ctx)
		}) && green
	}
	green = s.step(ctx, "the behaviour contract", func(ctx context.Context, step *ui.Step) (string, error) {
		return s.goTest(ctx, step, "scripts", env, "./acceptance")
	}) && green

	if green {
		s.removeCluster(ctx, c)
	} else {
		s.UI.Say("! cluster %q is left as it is; its logs are in %s", clusterName, filepath.Dir(c.AuditLog()))
	}
}

func (s *Suite) goTest(ctx context.Context, step *ui.Step, module string, env []string, packages ...string) (string, error) {
	args := append(append([]string{"-count=1", "-timeout=20m"}, s.race...), packages...)
	started := 0
	result, err := gotest.Run(ctx, filepath.Join(s.Root, module), env, args, func(test string) {
		started++
		step.Update("%d: %s", started, test)
	})
	s.counts = s.counts.Plus(result.Counts)
	if err == nil && len(result.Problems) > 0 {
		err = errors.New(strings.Join(result.Problems, "\n"))
	}
	return fmt.Sprintf("%d passed", result.Passed), err
}

// freshCluster brings up a cluster with nothing in it, whatever was there under its name.
func (s *Suite) freshCluster(ctx context.Context, c *cluster.Cluster) bool {
	return s.step(ctx, fmt.Sprintf("cluster %q", c.Name), func(ctx context.Context, step *ui.Step) (string, error) {
		if _, err := c.Down(ctx, true, func(holder string) { step.Update("waiting for %s", holder) }); err != nil {
			return "", err
		}
		result, err := c.Up(ctx, cluster.UpOptions{Progress: func(what string) { step.Update("%s", what) }})
		return fmt.Sprintf("%d nodes", result.Nodes), err
	})
}

func (s *Suite) removeCluster(ctx context.Context, c *cluster.Cluster) {
	if _, err := c.Down(context.WithoutCancel(ctx), true, func(string) {}); err != nil {
		s.counts.Failed++
		s.UI.Say("%s", problem.Format(err))
	}
}
