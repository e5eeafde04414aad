package exercises

// Catching up: the course's solutions put in place of what a learner hasn't got to, and the learner's own put back.
//
// What was in place is kept in .workshop/kept/catch-up, one file an exercise, until it is put back. It is written before the solution
// comes, and removed after it is back, each file at once and whole: a run that is broken off loses nothing, and the next one goes on.
// That an exercise was caught up stands nowhere: its exercise.go is the course's solution, and that can be seen.

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"

	"example.com/operators/scripts/internal/problem"
)

// Move says what was done with an exercise to catch up, or to put it back.
type Move struct {
	Exercise Exercise
	Done     MoveKind
	// Kept is where work went that PutBack doesn't put back, relative to root; "" if there is none.
	Kept string
}

// MoveKind is what was done.
type MoveKind string

const (
	// MovePassed: the learner has passed it, and it stays as it is.
	MovePassed MoveKind = "passed"
	// MoveAlready: the solution was in place before.
	MoveAlready MoveKind = "already"
	// MoveSolved: the solution is in place now.
	MoveSolved MoveKind = "solved"
	// MoveBack: what was kept is in place again.
	MoveBack MoveKind = "back"
	// MoveChanged: the solution was changed since it came. It stays, and so does what is kept.
	MoveChanged MoveKind = "changed"
)

// UpTo are the exercises from the first one to last.
func UpTo(all []Exercise, last Exercise) []Exercise {
	return all[:1+slices.IndexFunc(all, func(e Exercise) bool { return key(e) == key(last) })]
}

// CatchUp puts the solutions of exercises in place, and keeps what was there. Those that the learner has passed are left alone. It
// returns what was done, before an error too.
func CatchUp(ctx context.Context, root string, exercises []Exercise, now time.Time) ([]Move, error) {
	return moveAll(ctx, root, exercises, func(e Exercise, progress Progress) (Move, error) {
		move := Move{Exercise: e, Done: MoveSolved}
		solution, err := solutionInPlace(e)
		if err != nil {
			return move, err
		}
		own, err := os.ReadFile(e.File(exerciseFile))
		switch missing := errors.Is(err, fs.ErrNotExist); {
		case err != nil && !missing:
			return move, err
		case !missing && bytes.Equal(own, solution):
			move.Done = MoveAlready
			return move, nil
		case !missing && progress.Of(e).Passing:
			move.Done = MovePassed
			return move, nil
		case !missing:
			if move.Kept, err = setAside(root, e, own, now); err != nil {
				return move, fmt.Errorf("keep your own: %w", err)
			}
		}
		if err := replaceFile(e.File(exerciseFile), solution, 0o644); err != nil {
			return move, fmt.Errorf("put the solution in place: %w", err)
		}
		return move, UpdateProgress(ctx, root, e, func(r *Record) { r.Passing = false })
	})
}

// PutBack puts back what CatchUp has kept of exercises, and tells of those alone of which something was kept. A solution that was
// changed since it came is a learner's own work too: it stays, unless evenChanged, and then it is kept in its turn.
func PutBack(ctx context.Context, root string, exercises []Exercise, evenChanged bool, now time.Time) ([]Move, error) {
	kept := slices.DeleteFunc(slices.Clone(exercises), func(e Exercise) bool {
		_, err := os.Stat(filepath.Join(root, asidePath(e)))
		return errors.Is(err, fs.ErrNotExist)
	})
	return moveAll(ctx, root, kept, func(e Exercise, _ Progress) (Move, error) {
		move := Move{Exercise: e, Done: MoveBack}
		aside, err := os.ReadFile(filepath.Join(root, asidePath(e)))
		if err != nil {
			return move, err
		}
		here, err := os.ReadFile(e.File(exerciseFile))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return move, err
		}
		if err == nil && !bytes.Equal(here, aside) && !e.HasSolution() {
			if !evenChanged {
				move.Done = MoveChanged
				return move, nil
			}
			if move.Kept, err = keep(root, e, here, now); err != nil {
				return move, fmt.Errorf("keep what is there now: %w", err)
			}
		}
		if err := replaceFile(e.File(exerciseFile), aside, 0o644); err != nil {
			return move, fmt.Errorf("put your own back: %w", err)
		}
		if err := UpdateProgress(ctx, root, e, func(r *Record) { r.Passing = false }); err != nil {
			return move, err
		}
		return move, removeAside(root, e)
	})
}

// moveAll does something with one exercise after the other, while no other command does.
func moveAll(ctx context.Context, root string, exercises []Exercise, do func(Exercise, Progress) (Move, error)) ([]Move, error) {
	dir := filepath.Join(root, ".workshop")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("keep what is yours: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "catch-up.lock"))
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, fmt.Errorf("wait for another catch-up to end: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	progress, err := ReadProgress(root)
	if err != nil {
		return nil, err
	}
	var moves []Move
	for _, e := range exercises {
		if ctx.Err() != nil {
			return moves, ctx.Err()
		}
		move, err := do(e, progress)
		if err != nil {
			return moves, fmt.Errorf("%s: %w", e.Path(exerciseFile), err)
		}
		moves = append(moves, move)
	}
	return moves, nil
}

// HasSolution tells whether the course's solution is in place of the learner's work.
func (e Exercise) HasSolution() bool {
	solution, err := solutionInPlace(e)
	if err != nil {
		return false
	}
	here, err := os.ReadFile(e.File(exerciseFile))
	return err == nil && bytes.Equal(here, solution)
}

// solutionInPlace is the solution as exercise.go has it: under the other build tag.
func solutionInPlace(e Exercise) ([]byte, error) {
	content, err := os.ReadFile(e.File(solutionFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &problem.Problem{
			What: e.Path(solutionFile) + " is missing",
			Mend: "git checkout -- " + e.Path(solutionFile) + ", or take it from where you got this folder",
		}
	}
	if err != nil {
		return nil, err
	}
	first, rest, _ := strings.Cut(string(content), "\n")
	if strings.TrimSuffix(first, "\r") != "//go:build "+tagSolution {
		return nil, fmt.Errorf("%s: its first line isn't \"//go:build %s\"", e.Path(solutionFile), tagSolution)
	}
	return []byte("//go:build !" + tagSolution + first[len("//go:build "+tagSolution):] + "\n" + rest), nil
}

// asidePath is where what was in place before the solution is kept, relative to root.
func asidePath(e Exercise) string {
	return filepath.Join(".workshop", keptFolder, "catch-up", e.Chapter.Name, e.Folder+".go")
}

// setAside keeps what was in place. If something is kept already, it stays what is put back: what is there now was made of the solution,
// and goes where reset keeps things, which is returned. A run that was broken off has kept it already.
func setAside(root string, e Exercise, own []byte, now time.Time) (elsewhere string, err error) {
	path := filepath.Join(root, asidePath(e))
	before, err := os.ReadFile(path)
	switch {
	case err == nil && bytes.Equal(before, own):
		return "", nil
	case err == nil:
		return keep(root, e, own, now)
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", err
	}
	return "", replaceFile(path, own, 0o600)
}

// removeAside removes what was kept of an exercise, and folders that it leaves empty.
func removeAside(root string, e Exercise) error {
	path := filepath.Join(root, asidePath(e))
	if err := os.Remove(path); err != nil {
		return err
	}
	for range 2 {
		path = filepath.Dir(path)
		_ = os.Remove(path) // others may be kept there
	}
	return nil
}
