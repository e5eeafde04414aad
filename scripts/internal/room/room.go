// Package room shows the instructor of a workshop who works on which exercise. The instructor's
// `workshop progress --serve` is the room: server.go takes reports and serves the page, page.go
// draws the table, and address.go says how to reach it. client.go sends a learner's reports, and
// only if the learner has named a room. Everything is in memory, and nothing is stored.
package room

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"example.com/operators/scripts/internal/exercises"
)

// The bounds, because anyone with the room's address can send reports.
const (
	mostPeople = 200
	mostName   = 30 // characters
	mostTests  = 999
	mostBody   = 4 << 10 // bytes of a report
	forgotten  = time.Hour
)

// Report is all that a learner's check sends. It has no code, no paths and no messages of tests.
type Report struct {
	Name     string   `json:"name"`
	Exercise string   `json:"exercise"` // such as 03/1
	Passed   bool     `json:"passed"`
	Unnamed  bool     `json:"unnamed,omitempty"` // a ticket whose cause the learner is looking for; no tests ran
	Passing  int      `json:"passing"`           // tests of the exercise
	Tests    int      `json:"tests"`             // that ran; 0 if it doesn't compile
	Done     []string `json:"done"`              // the exercises that the learner's progress has as passed
}

// room has the people who have sent a report within the last hour.
type room struct {
	exercises []exercises.Exercise

	mu      sync.Mutex
	people  map[string]*person // by name
	changed chan struct{}      // closed at the next report
}

type person struct {
	name           string
	now            string // the exercise of the last report
	passing, tests int
	passed         map[string]bool // the last check of each exercise; missing: not touched
	heard          time.Time       // when the last report came
}

func newRoom(all []exercises.Exercise) *room {
	return &room{exercises: all, people: map[string]*person{}, changed: make(chan struct{})}
}

var errFull = fmt.Errorf("the room is full: it has %d people", mostPeople)

// take records a report, or says which bound it breaks.
func (r *room) take(report Report) error {
	name, err := checkName(report.Name)
	switch {
	case err != nil:
		return err
	case !r.knows(report.Exercise):
		return fmt.Errorf("the room doesn't know the exercise %.20q", report.Exercise)
	case report.Passing < 0 || report.Passing > report.Tests || report.Tests > mostTests:
		return errors.New("the report's numbers of tests are wrong")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	p := r.people[name]
	if p == nil {
		if len(r.people) >= mostPeople {
			return errFull
		}
		p = &person{name: name, passed: map[string]bool{}}
		r.people[name] = p
	}
	p.take(report, r.knows)
	close(r.changed)
	r.changed = make(chan struct{})
	return nil
}

func (p *person) take(report Report, knows func(exercise string) bool) {
	for exercise, passed := range p.passed {
		if passed && !slices.Contains(report.Done, exercise) {
			delete(p.passed, exercise) // the learner has started over
		}
	}
	for _, exercise := range report.Done {
		if knows(exercise) {
			p.passed[exercise] = true
		}
	}
	if !report.Unnamed {
		p.passed[report.Exercise] = report.Passed
	}
	p.now, p.passing, p.tests = report.Exercise, report.Passing, report.Tests
	p.heard = time.Now()
}

func (r *room) knows(exercise string) bool {
	return slices.ContainsFunc(r.exercises, func(e exercises.Exercise) bool { return e.Name() == exercise })
}

// forget removes people who have been silent for too long.
func (r *room) forget() {
	for name, p := range r.people {
		if time.Since(p.heard) >= forgotten {
			delete(r.people, name)
		}
	}
}

// rows returns the table's rows as HTML, and a channel that is closed when they change.
func (r *room) rows() (html string, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget()
	var people []*person
	for _, p := range r.people {
		people = append(people, p)
	}
	slices.SortFunc(people, func(a, b *person) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), strings.Compare(a.name, b.name))
	})
	return draw("rows", rowsOf(people, r.exercises)), r.changed
}

// checkName returns a name without the spaces around it. Both sides check it: the learner gets the
// error at once, and the room can't trust what it gets.
func checkName(name string) (string, error) {
	name = strings.TrimSpace(name)
	switch {
	case name == "":
		return "", errors.New("the name is empty")
	case utf8.RuneCountInString(name) > mostName:
		return "", fmt.Errorf("the name is longer than %d characters", mostName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", errors.New("the name has characters that can't be printed")
	}
	return name, nil
}
