package exercises

// Tickets: exercises that begin with a symptom. The learner names the cause before the tests run. And
// capstones: after the tests, the judge holds the learner's program to the course's promises.

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
)

// CauseFile has the question about a ticket's cause. Exercises without it aren't tickets.
const CauseFile = "cause.yaml"

// Cause is the question about a ticket's cause.
type Cause struct {
	Question string   `json:"question"`
	Answers  []Answer `json:"answers"` // exactly one is right
}

type Answer struct {
	Text    string `json:"text"`
	Right   bool   `json:"right,omitempty"`
	Because string `json:"because"` // why it is right, or which piece of evidence speaks against it
}

func (e Exercise) IsTicket() bool { return chapters.Exists(e.File(CauseFile)) }

// Cause returns the question, or nil if the exercise isn't a ticket.
func (e Exercise) Cause() (*Cause, error) {
	content, err := os.ReadFile(e.File(CauseFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var cause Cause
	if err := yaml.UnmarshalStrict(content, &cause); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Path(CauseFile), err)
	}
	right := 0
	for i, answer := range cause.Answers {
		if answer.Text == "" || answer.Because == "" {
			return nil, fmt.Errorf("%s: answer %d has no text, or no because", e.Path(CauseFile), i+1)
		}
		if answer.Right {
			right++
		}
	}
	if cause.Question == "" || len(cause.Answers) < 4 || right != 1 {
		return nil, fmt.Errorf("%s: it needs a question, and at least four answers, exactly one of them right",
			e.Path(CauseFile))
	}
	return &cause, nil
}

// OpenCause returns the question if the learner still has to answer it, and otherwise nil.
func OpenCause(root string, e Exercise) (*Cause, error) {
	cause, err := e.Cause()
	if err != nil || cause == nil {
		return nil, err
	}
	progress, err := ReadProgress(root)
	if err != nil || progress.Of(e).Named {
		return nil, err
	}
	return cause, nil
}

// NameCause returns the answer with that number, counted from 1. If it is right, NameCause records
// that the learner has named the cause.
func NameCause(root string, e Exercise, number int) (Answer, error) {
	cause, err := e.Cause()
	if err != nil {
		return Answer{}, err
	}
	if cause == nil {
		return Answer{}, problem.New("exercise %s isn't a ticket, so it doesn't ask for a cause", e.Name()).
			ToDo("leave out --cause")
	}
	if number < 1 || number > len(cause.Answers) {
		return Answer{}, problem.New("there is no answer %d", number).ToDo("choose one of 1 to %d", len(cause.Answers))
	}
	answer := cause.Answers[number-1]
	if answer.Right {
		err = UpdateProgress(root, e, func(r *Record) { r.Named = true })
	}
	return answer, err
}

// JudgeFile tells the judge what a capstone's program manages, which the learner writes, most often
// from an empty file. Exercises without it aren't capstones.
const JudgeFile = "judge.yaml"

func (e Exercise) IsCapstone() bool { return chapters.Exists(e.File(JudgeFile)) }

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
