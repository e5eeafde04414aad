// Package watch is watch mode: it checks an exercise at each save. One loop gets the saves, the keys,
// and the results of checks. keys.go has what the keys do, and screen.go prints.
package watch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
)

type Watch struct {
	Checker   verdict.Checker
	Terminal  Terminal
	Exercises []exercises.Exercise
	Start     exercises.Exercise // the first one to check
}

type session struct {
	Watch
	watcher *fsnotify.Watcher
	current exercises.Exercise
	verdict verdict.Verdict // of the last check of current

	// These belong to the running check. They are nil if there is none.
	cancel    context.CancelFunc
	results   chan result
	compiling chan int // packages that are left to compile
}

type result struct {
	verdict verdict.Verdict
	err     error
}

// Run ends when the user quits or ctx ends, and restores the terminal.
func (w Watch) Run(ctx context.Context) error {
	defer w.Terminal.Close()
	watcher, err := newWatcher()
	if err != nil {
		return err
	}
	defer watcher.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Watch: w, watcher: watcher}
	defer s.cancelCheck()
	if err := s.open(ctx, w.Start); err != nil {
		return err
	}
	return s.loop(ctx, readKeys(ctx, w.Terminal.Keys))
}

func (s *session) loop(ctx context.Context, keys <-chan byte) error {
	var saved <-chan time.Time // after the last change of a save
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
		case event := <-s.watcher.Events:
			if isSave(event) {
				saved = time.After(debounce)
			}
		case err := <-s.watcher.Errors:
			s.printError(fmt.Errorf("a save may have gone unnoticed (c checks again): %w", err))
		case <-saved:
			s.recheck(ctx)
		case r := <-s.results:
			s.show(r)
		case packages := <-s.compiling:
			s.printCompiling(packages)
		}
	}
}

// open shows an exercise's task, and checks the exercise. It watches the folder, because many editors
// save by replacing the file.
func (s *session) open(ctx context.Context, e exercises.Exercise) error {
	_ = s.watcher.Remove(s.current.Dir()) // there may be none yet, or it may be gone
	s.current, s.verdict = e, verdict.Verdict{}
	if err := s.watcher.Add(e.Dir()); err != nil {
		return fmt.Errorf("watch %s: %w", e.Path(""), err)
	}
	s.clear()
	s.printTask()
	s.check(ctx)
	return nil
}

// recheck checks the current exercise on an empty screen.
func (s *session) recheck(ctx context.Context) {
	s.clear()
	s.check(ctx)
}

// check starts a check, and cancels the running one.
func (s *session) check(ctx context.Context) {
	s.cancelCheck()
	s.printf("Checking %s …", s.current.Path(exercises.ExerciseFile))
	ctx, s.cancel = context.WithCancel(ctx)
	results, compiling := make(chan result, 1), make(chan int, 1)
	s.results, s.compiling = results, compiling
	exercise, checker := s.current, s.Checker
	checker.Compiling = func(packages int) {
		select {
		case compiling <- packages:
		default: // the number before isn't printed yet
		}
	}
	go func() {
		v, err := checker.Check(ctx, exercise)
		results <- result{v, err}
	}()
}

// cancelCheck returns when the running check has ended, so that two never compete.
func (s *session) cancelCheck() {
	if s.cancel != nil {
		s.cancel()
		<-s.results
		s.cancel, s.results, s.compiling = nil, nil, nil
	}
}

func (s *session) show(r result) {
	s.cancel()
	s.cancel, s.results, s.compiling = nil, nil, nil
	if errors.Is(r.err, context.Canceled) {
		return // the whole run ends
	}
	s.verdict = r.verdict
	s.printResult(r)
}
