// Package watch is watch mode: it checks an exercise at each save. One loop (watch.go) gets the
// results of checks, the keys and the saves (terminal.go).
package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/problem"
)

// reportPeriod is how often a check that takes long is reported.
const reportPeriod = 5 * time.Second

type Watch struct {
	Checker   verdict.Checker
	Terminal  Terminal
	Exercises []exercises.Exercise
	Start     exercises.Exercise // the first one to check
}

type session struct {
	Watch
	saves   *saves
	current exercises.Exercise

	cancel  context.CancelFunc // ends the check under way; nil: there is none
	begun   time.Time          // when that began
	results chan result        // of the check under way
}

type result struct {
	verdict verdict.Verdict
	err     error
	panic   string
}

// Run ends when the user quits or ctx ends, and always restores the terminal.
func (w Watch) Run(ctx context.Context) error {
	defer w.Terminal.Close()
	files, err := newSaves()
	if err != nil {
		return err
	}
	defer files.watcher.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Watch: w, saves: files}
	defer s.cancelCheck()
	if err := s.open(ctx, w.Start); err != nil {
		return err
	}
	return s.loop(ctx, readKeys(ctx, w.Terminal.Keys))
}

func (s *session) loop(ctx context.Context, keys <-chan byte) error {
	report := time.NewTicker(reportPeriod)
	defer report.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // without keys, Ctrl-C ends it
		case key, open := <-keys:
			if !open || key == 'q' || key == ctrlC || key == ctrlD {
				s.printf("")
				return nil
			}
			if err := s.press(ctx, key); err != nil {
				return err
			}
		case event := <-s.saves.watcher.Events:
			s.saves.take(event)
		case err := <-s.saves.watcher.Errors:
			s.printError(fmt.Errorf("a save may have gone unnoticed (c checks again): %w", err))
		case <-s.saves.quiet.C:
			if _, err := os.Stat(s.current.File(exercises.ExerciseFile)); err == nil { // else the save goes on
				s.check(ctx)
			}
		case r := <-s.results:
			s.show(r)
		case <-report.C:
			if took := time.Since(s.begun).Round(time.Second); s.cancel != nil && took >= reportPeriod {
				s.printf("still checking (%s); the first time, Go compiles the libraries too", took)
			}
		}
	}
}

// press handles a key. It ignores others, such as the arrows, which send several bytes.
func (s *session) press(ctx context.Context, key byte) error {
	progress, err := exercises.ReadProgress(s.Checker.Root)
	next, found := exercises.NextOpen(s.Exercises, s.current, progress)
	switch {
	case key == 'c':
		return s.open(ctx, s.current)
	case key == 'h':
		hint, err := exercises.NextHint(ctx, s.Checker.Root, s.current, false, s.Terminal.Colours)
		if err != nil {
			s.printError(err)
			return nil
		}
		s.printf("\n%s", hint)
	case key != 'l' && key != 'n':
	case err != nil:
		s.printError(err)
	case key == 'l':
		s.printf("\n%s", exercises.Table(s.Exercises, progress, s.Terminal.Colours))
	case !found:
		s.printf("\nNo other exercise is left to do.")
	default:
		return s.open(ctx, next)
	}
	return nil
}

func (s *session) open(ctx context.Context, e exercises.Exercise) error {
	s.current = e
	if err := s.saves.follow(e); err != nil {
		return err
	}
	s.check(ctx)
	return nil
}

// check starts a check, and cancels the running one.
func (s *session) check(ctx context.Context) {
	s.cancelCheck()
	if s.Terminal.Clear {
		fmt.Fprint(s.Terminal.Out, "\033[2J\033[H")
	}
	s.printf("Checking %s …", s.current.Path(exercises.ExerciseFile))
	ctx, s.cancel = context.WithCancel(ctx)
	s.begun = time.Now()
	results, exercise := make(chan result, 1), s.current
	s.results = results
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			results <- r
		}()
		r.verdict, r.err = s.Checker.Check(ctx, exercise)
	}()
}

func (s *session) cancelCheck() {
	if s.cancel != nil {
		s.cancel()
		<-s.results
		s.cancel = nil
	}
}

func (s *session) show(r result) {
	s.cancel()
	s.cancel = nil
	switch {
	case r.panic != "":
		panic(r.panic) // in this goroutine, so that the terminal is restored
	case errors.Is(r.err, context.Canceled):
		return // the whole run ends
	}
	if r.verdict.Exercise.Folder != "" { // it was checked, even if that can't be remembered
		s.printf("\n%s", r.verdict.Text(s.Terminal.Colours, false))
	}
	advice, err := "", r.err
	if err == nil {
		advice, err = r.verdict.Advice(s.Checker.Root, s.Exercises)
	}
	if err != nil {
		s.printError(err)
	} else {
		s.printf("%s", advice)
	}
	if s.Terminal.Keys == nil {
		s.printf("\nWaiting for the next save. Press Ctrl-C to stop.")
		return
	}
	s.printf("\nh hint   l list   n next   c check again   q quit")
}

func (s *session) printf(format string, args ...any) {
	fmt.Fprintf(s.Terminal.Out, format+"\n", args...)
}

func (s *session) printError(err error) { s.printf("\n%s", problem.Format(err)) }
