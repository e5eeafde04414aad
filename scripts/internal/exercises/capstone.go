package exercises

// Capstones: exercises with a program that the learner writes, most often from an empty file. After
// its tests, the judge and the contract hold it to the course's promises.

import "example.com/operators/scripts/internal/problem"

// JudgeFile tells the judge what a capstone's program manages. Exercises without it aren't
// capstones.
const JudgeFile = "judge.yaml"

func (e Exercise) IsCapstone() bool { return exists(e.File(JudgeFile)) }

// HasProgram reports whether the exercise has a program of its own, which "workshop run" runs: a
// ticket's, or a capstone's.
func (e Exercise) HasProgram() bool { return e.IsTicket() || e.IsCapstone() }

// FindCapstone is FindOne for commands that judge a capstone.
func FindCapstone(root, name string) (Exercise, error) {
	e, err := FindOne(root, name)
	if err == nil && !e.IsCapstone() {
		return e, problem.New("exercise %s can't be judged, because it has no judge.yaml", e.Name()).
			ToDo("name an exercise with a program that is judged, such as 03/9 or 05/7")
	}
	return e, err
}

// RecordJudged records whether the program kept every promise when the judge ran it last.
func RecordJudged(root string, e Exercise, kept bool) error {
	return UpdateProgress(root, e, func(r *Record) { r.Judged = kept })
}
