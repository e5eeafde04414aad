package exercises

// Catching up: the course's solutions replace exercises that a learner hasn't passed, and the
// learner's files can be restored later.
//
// The learner's file is kept in .workshop/kept. It is written there before the solution replaces
// it, and removed after it is restored, and each file is replaced atomically. So an interrupted run
// loses nothing, and the next one continues. An exercise is caught up if exercise.go equals the
// solution.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
)

// Move is a change of an exercise by CatchUp or Restore.
type Move struct {
	Exercise Exercise
	Done     MoveKind // "": nothing
	Kept     string   // the path of a changed solution, relative to root; "": there is none
}

type MoveKind string

const (
	MovePassed   MoveKind = "passed: yours stays"
	MoveAlready  MoveKind = "the solution is in place already"
	MoveSolved   MoveKind = "the solution is in place"
	MoveRestored MoveKind = "restored"
	MoveChanged  MoveKind = "you have changed the solution: it stays" // and so does the kept file
)

func (m Move) String() string {
	if m.Kept == "" {
		return string(m.Done)
	}
	return fmt.Sprintf("%s; your changed solution is kept: %s", m.Done, m.Kept)
}

// CatchUp replaces exercises that the learner hasn't passed by their solutions, and keeps the
// learner's files. With an error, it returns the moves before it.
func CatchUp(ctx context.Context, root string, exercises []Exercise, now time.Time) ([]Move, error) {
	return moveAll(ctx, root, exercises, func(e Exercise, record *Record) (move Move, err error) {
		solution, err := solutionInPlace(e)
		if err != nil {
			return move, err
		}
		own, err := readIfExists(e.File(ExerciseFile))
		switch {
		case err != nil:
			return move, err
		case bytes.Equal(own, solution):
			return Move{Done: MoveAlready}, nil
		case own != nil && record.Passing:
			return Move{Done: MovePassed}, nil
		case own != nil:
			if move.Kept, err = setAside(root, e, own, now); err != nil {
				return move, fmt.Errorf("keep your own: %w", err)
			}
		}
		move.Done, record.Passing = MoveSolved, false
		return move, replaceFile(e.File(ExerciseFile), solution, 0o644)
	})
}

// Restore restores the files that CatchUp has kept. A solution that the learner has changed stays,
// or is kept if evenChanged is set.
func Restore(ctx context.Context, root string, exercises []Exercise, evenChanged bool, now time.Time) ([]Move, error) {
	return moveAll(ctx, root, exercises, func(e Exercise, record *Record) (move Move, err error) {
		aside, err := readIfExists(asidePath(root, e))
		if aside == nil {
			return move, err
		}
		here, err := readIfExists(e.File(ExerciseFile))
		if err != nil {
			return move, err
		}
		if here != nil && !bytes.Equal(here, aside) && !e.HasSolution() {
			if !evenChanged {
				return Move{Done: MoveChanged}, nil
			}
			if move.Kept, err = keep(root, e, here, now); err != nil {
				return move, fmt.Errorf("keep your changed solution: %w", err)
			}
		}
		move.Done, record.Passing = MoveRestored, false
		if err := replaceFile(e.File(ExerciseFile), aside, 0o644); err != nil {
			return move, err
		}
		return move, os.Remove(asidePath(root, e))
	})
}

func moveAll(ctx context.Context, root string, exercises []Exercise, do func(Exercise, *Record) (Move, error)) (moves []Move, err error) {
	err = update(ctx, root, func(progress Progress) error {
		for _, e := range exercises {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			var move Move
			var err error
			progress.change(e, func(r *Record) { move, err = do(e, r) })
			if err != nil {
				return fmt.Errorf("%s: %w", e.Path(ExerciseFile), err)
			}
			if move.Done != "" {
				move.Exercise = e
				moves = append(moves, move)
			}
		}
		return nil
	})
	return moves, err
}

// HasSolution reports whether exercise.go is the course's solution.
func (e Exercise) HasSolution() bool {
	solution, err := solutionInPlace(e)
	here, readErr := os.ReadFile(e.File(ExerciseFile))
	return err == nil && readErr == nil && bytes.Equal(here, solution)
}

// solutionInPlace returns the solution with exercise.go's build tag.
func solutionInPlace(e Exercise) ([]byte, error) {
	content, err := readIfExists(e.File(SolutionFile))
	switch {
	case err != nil:
		return nil, err
	case content == nil:
		return nil, problem.New("%s is missing", e.Path(SolutionFile)).
			ToDo("git checkout -- %s, or copy it from where you got this folder", e.Path(SolutionFile))
	}
	const tag = "//go:build " + TagSolution
	rest, tagged := strings.CutPrefix(string(content), tag)
	if !tagged || rest != strings.TrimLeft(rest, " \t|&") {
		return nil, fmt.Errorf("%s: its first line isn't %q", e.Path(SolutionFile), tag)
	}
	return []byte("//go:build !" + TagSolution + rest), nil
}

// readIfExists returns the content of a file, or nil if the file doesn't exist.
func readIfExists(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return content, err
}

func asidePath(root string, e Exercise) string {
	return filepath.Join(root, ".workshop", keptFolder, "catch-up-"+e.Chapter.Name+"-"+e.Folder+".go")
}

// setAside keeps the learner's file at asidePath. If another file is kept there already, this one
// is a changed solution, so it is kept like one of Reset's, and its path is returned.
func setAside(root string, e Exercise, own []byte, now time.Time) (elsewhere string, err error) {
	path := asidePath(root, e)
	before, err := readIfExists(path)
	switch {
	case err != nil || before != nil && bytes.Equal(before, own):
		return "", err
	case before != nil:
		return keep(root, e, own, now)
	}
	return "", errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), replaceFile(path, own, 0o600))
}
