// Package watch is watch mode: it checks an exercise at each save. One loop (watch.go) gets the
// results of checks, the keys (keys.go, press.go) and the saves (terminal.go). screen.go prints.
// Keys go to the list (list.go) while it is open, and to the guess (guess.go) while it is typed.
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

	// EditCommand is for exercises.EditCommand; "": the key e does nothing.
	EditCommand string
}

type session struct {
	Watch
	saves   *saves
	current exercises.Exercise
	verdict verdict.Verdict // of the last check of current
	page    string          // that verdict, as printed
	list    *list           // nil: it isn't open
	guess   *line           // nil: it isn't being typed
	edited  chan error      // from editors that failed

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
	s := &session{Watch: w, saves: files, edited: make(chan error)}
	defer s.cancelCheck()
	if err := s.open(ctx, w.Start); err != nil {
		return err
	}
	return s.loop(ctx, readKeys(ctx, w.Terminal.Keys))
}

func (s *session) loop(ctx context.Context, keys <-chan string) error {
	report := time.NewTicker(reportPeriod)
	defer report.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil // without keys, Ctrl-C ends it
		case key, open := <-keys:
			if !open || key == keyCtrlC || key == keyCtrlD || key == "q" && !s.isTyping() {
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
				s.recheck(ctx)
			}
		case err := <-s.edited:
			s.printError(err)
			s.printFooter()
		case r := <-s.results:
			s.show(r)
		case <-report.C:
			s.reportLongCheck()
		}
	}
}

// open shows an exercise's task, and checks the exercise.
func (s *session) open(ctx context.Context, e exercises.Exercise) error {
	s.current, s.verdict, s.page = e, verdict.Verdict{}, ""
	if err := s.saves.follow(e); err != nil {
		return err
	}
	s.clear()
	s.printTask()
	s.check(ctx)
	return nil
}

// recheck checks the current exercise on an empty screen, unless the list is open.
func (s *session) recheck(ctx context.Context) {
	if s.list == nil {
		s.clear()
	}
	s.check(ctx)
}

// check starts a check, and cancels the running one.
func (s *session) check(ctx context.Context) {
	s.cancelCheck()
	if s.list == nil {
		s.printChecking()
	}
	if s.guess != nil {
		s.printFooter()
	}
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
	s.verdict, s.page = r.verdict, s.format(r)
	if s.list != nil {
		s.redraw() // for the marks in the list
		return
	}
	s.printf("\n%s", s.page)
	s.printFooter()
}

func (s *session) format(r result) (page string) {
	if r.verdict.Exercise.Folder != "" { // it was checked, even if that can't be remembered
		page = r.verdict.Text(s.Terminal.Colours, false) + "\n"
	}
	advice, err := "", r.err
	if err == nil {
		advice, err = r.verdict.Advice(s.Checker.Root, s.Exercises)
	}
	if err != nil {
		return page + problem.Format(err)
	}
	return page + advice
}
