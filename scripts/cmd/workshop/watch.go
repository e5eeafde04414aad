package main

// workshop watch checks an exercise at each save.

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func newWatchCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "watch [CHAPTER[/K]]",
		Short: "Check an exercise each time you save it",
		Long: `Watch checks an exercise, and checks it again each time you save it, until you press Ctrl-C. It begins with the
exercise that you name, or with the first one that you haven't passed, in all chapters or in one. When you pass an
exercise, watch waits for you to save the next one. For a hint, or to answer the question of a ticket, use another
terminal.`,
		Example: `  ./scripts/workshop watch
  ./scripts/workshop watch 01/1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			first := found[0]
			if len(found) == 1 { // that one first, and then all others
				if found, err = exercises.All(theRoot()); err != nil {
					return err
				}
			} else if open, left, err := exercises.NextOpen(theRoot(), found, exercises.Exercise{}); err != nil {
				return err
			} else if left {
				first = open
			}
			watcher, err := fsnotify.NewWatcher()
			if err != nil {
				return problem.New("this system doesn't report when a file is saved").
					ToDo(`end other programs that watch files, or run "./scripts/workshop check" after each save`).Because(err)
			}
			defer watcher.Close()
			return (&watch{command: command, watcher: watcher, all: found}).run(command.Context(), first)
		},
	}
}

type watch struct {
	command *cobra.Command
	watcher *fsnotify.Watcher
	all     []exercises.Exercise
	current exercises.Exercise

	cancel  context.CancelFunc // of the last check
	checked chan error         // its result; nil if there is none to wait for
}

// debounce is the time without a change after which a file is saved. Some editors write, rename and
// delete several files.
const debounce = 100 * time.Millisecond

// run checks an exercise at once. After it has passed, run waits for a save of the next one.
func (w *watch) run(ctx context.Context, first exercises.Exercise) error {
	if err := w.open(first); err != nil {
		return err
	}
	w.check(ctx)
	var saved <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			w.end()
			return nil
		case event := <-w.watcher.Events:
			if isSave(event) {
				saved = time.After(debounce)
			}
		case err := <-w.watcher.Errors:
			return fmt.Errorf("watch %s: %w", w.current.Path(""), err)
		case <-saved:
			w.end()
			w.check(ctx)
		case err := <-w.checked:
			w.checked = nil
			if err == nil {
				next, left, err := exercises.NextOpen(theRoot(), w.all, w.current)
				if err != nil || !left {
					return err
				}
				if err := w.open(next); err != nil {
					return err
				}
			} else if !errors.Is(err, problem.ErrReported) {
				w.command.PrintErrln(ui.Wrap(problem.Format(err)))
			}
			w.command.Printf("\nWaiting until you save %s. Press Ctrl-C to stop.\n\n", w.current.Path(exercises.ExerciseFile))
		}
	}
}

// open begins to watch an exercise's folder, because many editors save by replacing the file.
func (w *watch) open(e exercises.Exercise) error {
	_ = w.watcher.Remove(w.current.Dir()) // there may be none yet, or it may be gone
	w.current = e
	if err := w.watcher.Add(e.Dir()); err != nil {
		return fmt.Errorf("watch %s: %w", e.Path(""), err)
	}
	return nil
}

// check begins a check of the current exercise.
func (w *watch) check(ctx context.Context) {
	ctx, w.cancel = context.WithCancel(ctx)
	checked, e := make(chan error, 1), w.current
	w.checked = checked
	go func() { checked <- checkAll(ctx, w.command, []exercises.Exercise{e}, false) }()
}

// end ends the check if it still runs, so that two never compete.
func (w *watch) end() {
	w.cancel()
	if w.checked != nil {
		<-w.checked
	}
}

// isSave reports whether an event may be part of a save of a file that go test would read. Editors
// write others, such as #a.go#.
func isSave(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	return e.Op != fsnotify.Chmod &&
		strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}
