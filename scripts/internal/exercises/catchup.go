package exercises

// Catching up: the course's solutions replace exercises that a learner hasn't passed. The learner's
// files are kept in .workshop/kept first, and can be restored later.

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"example.com/operators/scripts/internal/problem"
)

// CatchUp replaces the exercise by its solution unless the learner has passed it, and says what it
// did.
func CatchUp(root string, e Exercise, now time.Time) (done string, err error) {
	err = change(root, e, func(r *Record) error {
		if r.Passing {
			done = "passed: yours stays"
			return nil
		}
		solution, own, err := e.readBoth()
		if err != nil {
			return err
		}
		done, r.CaughtUp = "the solution is in place", true
		if own == nil || bytes.Equal(own, solution) {
			return replaceFile(e.File(ExerciseFile), solution)
		}
		kept, err := keep(root, e, own, now)
		if err != nil {
			return err
		}
		if r.Kept == "" {
			r.Kept = kept
		} else { // the learner has changed the solution since
			done += "; your changed solution is kept: " + kept
		}
		return replaceFile(e.File(ExerciseFile), solution)
	})
	return done, err
}

// Restore restores the file that CatchUp has kept, and says what it did. done is "" if there is none.
// It keeps a solution that the learner has changed.
func Restore(root string, e Exercise, now time.Time) (done string, err error) {
	restored := ""
	err = change(root, e, func(r *Record) error {
		if r.Kept == "" {
			return nil
		}
		own, err := os.ReadFile(filepath.Join(root, r.Kept))
		if err != nil {
			return err
		}
		solution, here, err := e.readBoth()
		if err != nil {
			return err
		}
		done = "restored"
		if here != nil && !bytes.Equal(here, solution) && !bytes.Equal(here, own) {
			kept, err := keep(root, e, here, now)
			if err != nil {
				return err
			}
			done += "; your changed solution is kept: " + kept
		}
		restored, r.Kept, r.CaughtUp, r.Passing = r.Kept, "", false, false
		return replaceFile(e.File(ExerciseFile), own)
	})
	if err == nil && restored != "" {
		err = os.Remove(filepath.Join(root, restored)) // once the progress is saved
	}
	return done, err
}

// readBoth returns the solution with exercise.go's build tag, and the learner's exercise.go, which
// is nil if the file doesn't exist.
func (e Exercise) readBoth() (solution, own []byte, err error) {
	solution, err = os.ReadFile(e.File(SolutionFile))
	if err != nil {
		return nil, nil, problem.New("the solution of %s can't be read", e.Name()).
			ToDo("git checkout -- %s, or copy it from where you got this folder", e.Path(SolutionFile)).
			Because(err)
	}
	own, err = os.ReadFile(e.File(ExerciseFile))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return bytes.Replace(solution, []byte(TagSolution), []byte("!"+TagSolution), 1), own, err
}
