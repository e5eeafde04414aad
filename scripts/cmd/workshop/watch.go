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
		Long: `Watch checks an exercise at once, and again each time you save it. It begins with the exercise that you name. If
you name a chapter or nothing, it begins with the first exercise there that you haven't passed.

When you pass an exercise, watch goes on to the next one that you haven't passed, and checks it when you save it. It
ends when no exercise is left, or when you press Ctrl-C.

For a hint, or to answer the question of a ticket, use another terminal: "hint 01/1" or "check 03/7 --cause 2".`,
		Example: `  ./scripts/workshop watch
  ./scripts/workshop watch 01/1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			found, err := findExercises(args)
			if err != nil {
				return err
			}
			first, left, err := exercises.NextOpen(theRoot(), found, exercises.Exercise{})
			if !left {
				first = found[0]
			}
			if err == nil && len(found) == 1 { // that one first, and then all others
				found, err = exercises.All(theRoot())
			}
			if err != nil {
				return err
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
	checked chan error         // gets its result; the channel is nil if no check runs
}

// debounce is how long nothing must change before a save counts as finished. To save one file, some
// editors write, rename and delete several.
const debounce = 100 * time.Millisecond

// run checks an exercise at once, and again at each save. When it passes, run waits for the first save
// of the next one.
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
			if isSave(event) && filepath.Dir(event.Name) == w.current.Dir() { // or it is a late one of the exercise before
				saved = time.After(debounce)
			}
		case <-w.watcher.Errors: // a save may have gone unnoticed
			saved = time.After(debounce)
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
				saved = nil
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

// end cancels the check if it still runs and waits for it, so that two never run at once.
func (w *watch) end() {
	w.cancel()
	if w.checked != nil {
		<-w.checked
	}
}

// isSave reports whether an event may be part of saving a file that go test reads. Editors also write
// files that it ignores, such as .#a.go.
func isSave(e fsnotify.Event) bool {
	name := filepath.Base(e.Name)
	return e.Op != fsnotify.Chmod &&
		strings.HasSuffix(name, ".go") && !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "_")
}
