// Package suite is what `workshop test` and CI run: checks, vet and staticcheck, all modules'
// tests, the behaviour contract, and the texts. It decides what to run, what runs in parallel, and
// what counts as passed.
package suite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/runs"
	"example.com/operators/scripts/internal/ui"
)

type Suite struct {
	Root string // of the repository
	Bin  string // where the control plane's programs are
	// Version changes when the control plane does, for example to another version of Kubernetes.
	Version string
	UI      *ui.UI
	// Chapters are the chapters to test. With Everything, what belongs to no chapter is tested too.
	Chapters   []chapters.Chapter
	Everything bool
	// Exercise is the folder of an exercise. Only then tests its program instead of the chapters'.
	Exercise string

	this     *runs.Run
	programs string // a path to Bin that has Version in it
	counts   gotest.Counts
	race     []string // arguments to go test

	open       []*cluster.Cluster
	failedRuns []failedRun
	onlyAlone  []string // tests that failed, and passed when nothing else ran
}

// The tests' clusters. The contract has one to itself, because it kills the API server and deletes
// CRDs.
const (
	contractCluster = "test"
	unitCluster     = "units"
	readersCluster  = "docs" // in the repository's copy for the texts' commands
)

// Runs create these folders in .workshop.
const (
	clusters    = "clusters/"
	readersRoot = "reader"
)

// Cluster is the contract's cluster. Run creates it again, and Only uses it if it exists.
func (s *Suite) Cluster() *cluster.Cluster { return s.cluster(contractCluster) }

func (s *Suite) cluster(name string) *cluster.Cluster { return cluster.New(s.Root, s.Bin, name) }

// Run runs everything, even after a failure, and returns the number of tests. It prints why
// something failed, and returns an error.
func (s *Suite) Run(ctx context.Context) (counts gotest.Counts, err error) {
	folders := []string{clusters + contractCluster, clusters + unitCluster, readersRoot}
	for _, name := range chapters.Names(s.Chapters) {
		folders = append(folders, "prove/"+name)
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
	files := s.checkTexts(ctx)
	// These two lanes mostly wait, but everything else mostly compiles.
	joinContract := s.beside("the behaviour contract", func(lane *Suite) { lane.judge(ctx) })
	joinTexts := s.beside("the commands in the texts", func(lane *Suite) { lane.readAsReader(ctx, files) })
	s.tests(ctx)
	joinTexts()
	joinContract()
	s.runAgain(ctx)
	s.closeClusters(ctx)
	return s.result(ctx)
}

// begin returns when no other run is in progress in this repository, because two would delete each
// other's clusters. The folders are those of .workshop that this run creates. end removes them and
// lets the next run begin. If that fails, it adds the reason to the run's error. The commands in
// the texts run in a copy of the repository, and so don't wait for this run.
func (s *Suite) begin(ctx context.Context, folders ...string) (end func(result *error), err error) {
	step := s.UI.Start("tests")
	defer step.Drop()
	this, err := runs.Begin(ctx, s.Root, func(holder string) { step.Update("waiting for %s", holder) })
	if err != nil {
		return nil, err
	}
	s.this = this
	end = func(result *error) { *result = errors.Join(*result, this.End(ctx)) }
	if err = this.Own(folders...); err == nil {
		s.programs, err = this.Link("control-plane-" + s.Version)
	}
	if err != nil {
		end(&err)
		return nil, err
	}
	s.programs = filepath.Join(s.programs, filepath.Base(s.Bin))
	return end, nil
}

func (s *Suite) result(ctx context.Context) (gotest.Counts, error) {
	if ctx.Err() == nil && s.counts.NotPassed() > 0 {
		return s.counts, errors.New("not everything is green: the reasons are above")
	}
	return s.counts, ctx.Err()
}

// step runs one part and shows its result. A part returns a short description of what it did.
func (s *Suite) step(ctx context.Context, what string, part func(context.Context, *ui.Step) (string, error)) bool {
	if ctx.Err() != nil {
		return false
	}
	step := s.UI.Start(what)
	before := s.counts.NotPassed()
	summary, err := part(ctx, step)
	if err != nil {
		if s.counts.NotPassed() == before {
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

func (s *Suite) tour(ctx context.Context, chapter chapters.Chapter, c cluster.Backend) {
	s.step(ctx, chapter.Name+": the guided tour", func(ctx context.Context, _ *ui.Step) (string, error) {
		tour := demo.Demo{Root: s.Root, Bin: s.Bin, Chapter: chapter, Cluster: c, Out: io.Discard}
		return "every step held", tour.Run(ctx)
	})
}

func (s *Suite) contract(ctx context.Context, step *ui.Step, env []string, atOnce int) (string, error) {
	return s.goTest(ctx, step, "scripts", env, fmt.Sprintf("-parallel=%d", atOnce), "-timeout=80m", "./acceptance")
}

// beside starts a part of the run in its own lane. join waits for it, and shows and counts its
// results.
func (s *Suite) beside(what string, part func(lane *Suite)) (join func()) {
	var out output.Buffer
	doing := make(chan string, 1)
	follow := func(text string) {
		for {
			select {
			case doing <- text:
				return
			case <-doing: // only the latest is shown
			}
		}
	}
	lane := &Suite{
		Root: s.Root, Bin: s.Bin, Chapters: s.Chapters, Everything: s.Everything,
		UI: s.UI.Beside(&out, follow), this: s.this, programs: s.programs, race: s.race,
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		part(lane)
	}()
	return func() {
		step := s.UI.Start(what)
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			case text := <-doing:
				step.Update("%s", text)
			}
		}
		step.Drop()
		s.UI.Say("%s", strings.TrimSuffix(out.String(), "\n"))
		s.counts = s.counts.Plus(lane.counts)
		s.open = append(s.open, lane.open...)
		s.failedRuns = append(s.failedRuns, lane.failedRuns...)
	}
}
