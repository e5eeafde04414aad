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
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/exercises/proof"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/runs"
	"example.com/operators/scripts/internal/ui"
)

// clusterName is the name of the cluster that tests change as they like, beside the user's own.
const clusterName = "test"

// Suite is one run.
type Suite struct {
	Root string // of the repository
	Bin  string // where the control plane's programs are
	UI   *ui.UI
	// Chapters are those to test. With Everything, what belongs to no chapter is tested as well.
	Chapters   []chapters.Chapter
	Everything bool

	// Results are those of the tests that Run has run, but for the exercises'.
	Results gotest.Results

	this   *runs.Run // also of the reader that this run has
	counts gotest.Counts
	race   []string // arguments to go test
}

// Cluster is the tests' own. Run makes it anew; Only takes it as it finds it.
func (s *Suite) Cluster() *cluster.Cluster { return cluster.New(s.Root, s.Bin, clusterName) }

// Run runs all of it, also after a failure, and returns the number of tests. The error tells whether all was green; the
// reasons have been printed.
func (s *Suite) Run(ctx context.Context) (counts gotest.Counts, err error) {
	folders := []string{testCluster, readersRoot}
	for _, chapter := range s.Chapters {
		folders = append(folders, "prove/"+chapter.Name)
	}
	end, err := s.begin(ctx, folders...)
	if err != nil {
		return s.counts, err
	}
	defer end(&err)
	if err := s.findRace(ctx); err != nil {
		return s.counts, err
	}
	s.step(ctx, "layout, formatting, versions", s.checkFiles)
	// The cluster comes first: its garbage collector looks for new kinds every 30 seconds, and tests wait for what it does.
	up := s.freshCluster(ctx, s.Cluster())
	ready := up && s.step(ctx, "the kinds that tests are about", s.applyCRDs)
	s.step(ctx, "vet and staticcheck", s.lint)
	files := s.checkTexts(ctx)
	joinCommands := s.startCommands(ctx, files)
	green := ready && s.tests(ctx)
	if up {
		s.endCluster(ctx, green)
	}
	joinCommands()
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

// findRace decides whether the race detector can run: it needs a C compiler. Package gotest lets Go use it.
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
			What: fmt.Sprintf("there is no C compiler (CC is %s), which the race detector needs", compiler),
			Mend: "install one, such as Debian's gcc; it is left out only where CI isn't set",
		}
	}
	s.UI.Say("! there is no C compiler (CC is %s): the tests run without the race detector", compiler)
	return nil
}

// applyCRDs applies a CRD of each kind that the chapters' programs are about.
func (s *Suite) applyCRDs(ctx context.Context, _ *ui.Step) (string, error) {
	return s.applyCRDsBy(ctx, kubectl.Kubectl{Binary: s.kubectl(), Kubeconfig: s.Cluster().Kubeconfig()})
}

func (s *Suite) applyCRDsBy(ctx context.Context, kubectl kubectl.Kubectl) (string, error) {
	programs, err := s.onePerKind()
	var applied []string
	for _, p := range programs {
		err = errors.Join(err, kubectl.ApplyCRD(ctx, p.CRD))
		applied = append(applied, p.Kind)
	}
	return strings.Join(applied, ", "), err
}

// onePerKind returns a program for each kind that the chapters' programs are about.
func (s *Suite) onePerKind() (programs []program.Program, err error) {
	for _, kind := range []string{chapters.Foo, chapters.TDSet} {
		for _, chapter := range s.Chapters {
			p, found, err := program.Of(chapter, kind)
			if err != nil {
				return nil, err
			}
			if found {
				programs = append(programs, p)
				break
			}
		}
	}
	return programs, nil
}

// endCluster removes the tests' cluster if all went well, and leaves it to look at otherwise.
func (s *Suite) endCluster(ctx context.Context, green bool) {
	c := s.Cluster()
	if green {
		s.removeCluster(ctx, c)
		return
	}
	if ctx.Err() == nil {
		s.this.Keep(testCluster)
		s.UI.Say("! cluster %q is left as it is; its logs are in %s", c.Name(), filepath.Dir(c.AuditLog()))
	}
}

// tests runs every test of the modules, then the contract, on the cluster, and tells whether all were green.
func (s *Suite) tests(ctx context.Context) bool {
	c := s.Cluster()
	kubectl := kubectl.Kubectl{Binary: s.kubectl(), Kubeconfig: c.Kubeconfig()}
	env := s.testEnvironment(c, s.Chapters...)

	green := true
	for _, chapter := range s.Chapters {
		green = s.step(ctx, chapter.Name+": unit and integration tests", func(ctx context.Context, step *ui.Step) (string, error) {
			p, err := program.OfChapter(chapter)
			if err != nil {
				return "", err
			}
			if err := p.Apply(ctx, kubectl); err != nil {
				return "", err
			}
			packages, err := s.packages(ctx, chapter.Name)
			if err != nil {
				return "", err
			}
			return s.goTest(ctx, step, chapter.Name, env, packages...)
		}) && green
	}
	for _, chapter := range s.Chapters {
		green = s.step(ctx, chapter.Name+": exercises fail as given, and pass as solved", func(ctx context.Context, step *ui.Step) (string, error) {
			proof, err := proof.Prove(ctx, proof.Options{
				Root: s.Root, Chapter: chapter, Args: s.race, Env: env, Staticcheck: s.staticcheck(),
				Progress: func(test string) { step.Update("%s", test) },
			})
			for _, note := range proof.Notes {
				step.Note("! %s", note)
			}
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
		if givesTour(chapter) {
			continue
		}
		green = s.step(ctx, chapter.Name+": the guided tour", func(ctx context.Context, step *ui.Step) (string, error) {
			tour := demo.Demo{Root: s.Root, Bin: s.Bin, Chapter: chapter, Cluster: c, Out: io.Discard}
			return "every step held", tour.Run(ctx)
		}) && green
	}
	return s.step(ctx, "the behaviour contract", func(ctx context.Context, step *ui.Step) (string, error) {
		// Most of it is waiting, so more tests may run at a time than there are processors.
		return s.goTest(ctx, step, "scripts", env, "-parallel=8", "-timeout=60m", "./acceptance")
	}) && green
}

// givesTour tells whether the chapter's text gives the tour, and so does who checks the text.
func givesTour(chapter chapters.Chapter) bool {
	text, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
	return err == nil && strings.Contains(string(text), "\n$ ./scripts/workshop demo "+chapter.Number()+"\n")
}

// testEnvironment is what tests find in their environment: the cluster, what it takes to use and to break it, and which
// chapters are to be judged on it.
func (s *Suite) testEnvironment(c cluster.Backend, judged ...chapters.Chapter) []string {
	var names []string
	for _, chapter := range judged {
		names = append(names, chapter.Name)
	}
	return []string{
		"GOWORK=off",
		"TEST_KUBECONFIG=" + c.Kubeconfig(),
		"TEST_AUDIT_LOG=" + c.AuditLog(),
		"TEST_KUBECTL=" + s.kubectl(),
		"TEST_CHAPTERS=" + strings.Join(names, ","),
		"TEST_CLUSTER=" + c.Name(),
		"WORKSHOP_TEST_BIN=" + s.Bin,
		"KUBEBUILDER_ASSETS=" + s.Bin, // for envtest
	}
}

// kubectl is the pinned kubectl's path.
func (s *Suite) kubectl() string { return filepath.Join(s.Bin, "kubectl") }

// goTest runs go test in a module, with args: packages, and flags before them.
func (s *Suite) goTest(ctx context.Context, step *ui.Step, module string, env []string, args ...string) (string, error) {
	started := 0
	results, err := gotest.Run(ctx, gotest.Request{
		Dir:  filepath.Join(s.Root, module),
		Env:  env,
		Args: slices.Concat([]string{"-count=1", "-timeout=20m"}, s.race, args),
		Progress: func(test string) {
			started++
			step.Update("%d: %s", started, test)
		},
	})
	s.Results = append(s.Results, results...)
	counts := results.Counts()
	s.counts = s.counts.Plus(counts)
	switch problems := results.Problems(); {
	case err != nil:
	case len(problems) > 0:
		err = errors.New(strings.Join(problems, "\n"))
	case counts.Passed == 0:
		err = errors.New("no test was run")
	}
	return fmt.Sprintf("%d passed", counts.Passed), err
}

// freshCluster brings up a cluster with nothing in it, whatever was there under its name.
func (s *Suite) freshCluster(ctx context.Context, c *cluster.Cluster) bool {
	return s.step(ctx, fmt.Sprintf("cluster %q", c.Name()), func(ctx context.Context, step *ui.Step) (string, error) {
		if _, err := c.Down(ctx, true, func(holder string) { step.Update("waiting for %s", holder) }); err != nil {
			return "", err
		}
		result, err := c.Up(ctx, clusterOptions(step))
		return fmt.Sprintf("%d nodes", result.Nodes), err
	})
}

// clusterOptions have a step show what is done.
func clusterOptions(step *ui.Step) cluster.UpOptions {
	return cluster.UpOptions{Progress: func(what string) { step.Update("%s", what) }}
}

func (s *Suite) removeCluster(ctx context.Context, c *cluster.Cluster) {
	if _, err := c.Down(context.WithoutCancel(ctx), true, func(string) {}); err != nil {
		s.counts.Failed++
		s.UI.Say("%s", problem.Format(err))
	}
}
