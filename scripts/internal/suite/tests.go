package suite

// What runs on the suite's clusters: vet, staticcheck, and all tests.

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

// tests runs everything that runs on one cluster. The CRDs come first, because the garbage collector
// needs up to 30 seconds to find new kinds, which vet gives it. The contract is the last step, because
// it leaves its namespaces.
func (s *Suite) tests(ctx context.Context) {
	s.applyCRDs(ctx, s.kubectl(s.Cluster()))
	s.step(ctx, "vet and staticcheck", func(step *ui.Step) (string, error) { return "fine", s.lint(ctx, step) })
	for _, chapter := range s.Chapters {
		s.step(ctx, chapter.Name+": its tests", func(step *ui.Step) (string, error) {
			return s.testChapter(ctx, step, chapter)
		})
		if s.Full {
			s.proveChapter(ctx, chapter)
			s.tour(ctx, chapter, s.Cluster())
		}
	}
	if s.Everything && s.Full {
		s.step(ctx, "scripts: its tests", func(step *ui.Step) (string, error) { return s.testScripts(ctx, step) })
	}
	if len(s.Chapters) > 0 {
		env := s.testEnvironment(s.Cluster(), s.Chapters...)
		// A correct operator, and three broken ones.
		s.testStep(ctx, "the judge", "scripts", env, "-run=^(TestNoBugIsFound|TestThreeBugsAreFound)$", "./internal/judge")
		s.testContract(ctx, env)
	}
}

func (s *Suite) testChapter(ctx context.Context, step *ui.Step, chapter chapters.Chapter) (string, error) {
	p, err := program.OfChapter(chapter)
	if err != nil {
		return "", err
	}
	if err := p.Apply(ctx, s.kubectl(s.Cluster())); err != nil {
		return "", err
	}
	args, err := s.packages(ctx, chapter.Name)
	if err != nil {
		return "", err
	}
	env := s.testEnvironment(s.Cluster(), chapter)
	switch {
	case !s.Full:
		args = slices.DeleteFunc(args, runsGenerators)
	case hasConcurrency(chapter):
		args = append([]string{"-race"}, args...)
		env = append(env, "CGO_ENABLED=1") // the race detector needs cgo
	}
	return s.goTest(ctx, step, chapter.Name, env, args...)
}

// runsGenerators reports whether the package's tests run code generators, for a minute or more.
func runsGenerators(path string) bool { return strings.HasSuffix(path, "/hack") }

// hasConcurrency reports whether the chapter's program has workers, which run beside its informers.
func hasConcurrency(chapter chapters.Chapter) bool { return chapter.Number() >= "03" }

// testScripts tests what belongs to no chapter.
func (s *Suite) testScripts(ctx context.Context, step *ui.Step) (string, error) {
	skip := "TestThreeBugsAreFound|TestPagePictures" // tests runs the former, and the latter is for authors
	if os.Getenv("CI") == "" {
		skip += "|TestPage.*"
		step.Note("! left out: the tests of web pages, which need a browser (go test ./internal/lens)")
	}
	if os.Getenv("PROMTOOL") == "" {
		skip += "|TestAlerts"
		step.Note("! left out: the tests of alerts, which need promtool (make -C 07-tdset-operator test-alerts)")
	}
	if operator.CanImitatePods() != nil {
		skip += "|TestInCluster"
		step.Note("! left out: the test of the judge's inCluster, which needs Linux with user namespaces")
	}
	return s.goTest(ctx, step, "scripts", s.testEnvironment(s.Cluster(), s.Chapters...),
		"-skip=^("+skip+")$", "./cmd/...", "./internal/...")
}

// testContract holds the chapters' programs to the contract. Its tests mostly wait, so more run at a
// time than there are processors.
func (s *Suite) testContract(ctx context.Context, env []string) {
	env = append(env, "TEST_DISPOSABLE=1")
	args := []string{"-parallel=8", "-timeout=40m"}
	if s.Full {
		env = append(env, "TEST_RACE=1")
	} else {
		env = append(env, "TEST_OWN=1")
		args = append(args, "-run="+contract.Lessons(s.Chapters))
	}
	s.testStep(ctx, "the behavior contract", "scripts", env, append(args, "./acceptance")...)
}

// lint runs vet and staticcheck on the modules, and vet on the exercises as given and as solved. In a
// full run, staticcheck looks at the exercises, too.
func (s *Suite) lint(ctx context.Context, step *ui.Step) error {
	staticcheck, err := gobuild.Tool(ctx, s.Root, "honnef.co/go/tools/cmd/staticcheck", nil)
	if err != nil {
		return err
	}
	list := []string{"go", "list", "-e", allTags}
	for _, module := range chapters.Names(s.Chapters) {
		list = append(list, "./"+module+"/...")
	}
	if s.Everything {
		list = append(list, "./scripts/...")
	}
	// In the workspace, vet and staticcheck load the libraries that all modules have only once.
	found, err := runCommand(ctx, s.Root, inWorkspace, list...)
	if err != nil {
		return err
	}
	packages := withoutExercises(found)
	// Generated code uses functions that it marks as deprecated itself.
	isGenerated := func(path string) bool { return strings.Contains(path, "/pkg/generated/") }
	written := slices.DeleteFunc(slices.Clone(packages), isGenerated)
	_, vetErr := runCommand(ctx, s.Root, inWorkspace, append([]string{"go", "vet", allTags}, packages...)...)
	_, checkErr := runCommand(ctx, s.Root, inWorkspace, append([]string{staticcheck, allTags}, written...)...)
	err = errors.Join(vetErr, checkErr)
	if !s.Full {
		staticcheck = ""
	}
	for _, chapter := range s.Chapters {
		step.Update("the exercises of %s", chapter.Name)
		err = errors.Join(err, s.lintExercises(ctx, chapter, staticcheck))
	}
	return err
}

// inWorkspace has go use go.work, also if the user has turned that off.
var inWorkspace = []string{"GOWORK="}

// allTags select the tests that need docker, which OnKind runs.
const allTags = "-tags=kind,e2e"

// packages are a module's packages without the exercises, which learners edit. prove tests the
// committed ones.
func (s *Suite) packages(ctx context.Context, module string) ([]string, error) {
	output, err := runCommand(ctx, filepath.Join(s.Root, module), withoutWorkspace, "go", "list", "-e", "./...")
	return withoutExercises(output), err
}

func withoutExercises(paths string) []string {
	return slices.DeleteFunc(strings.Fields(paths), func(path string) bool {
		return strings.Contains(path, "/exercises/")
	})
}
