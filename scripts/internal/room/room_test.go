package room

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
)

// theExercises are 01/1, 01/2 and 02/1.
func theExercises() []exercises.Exercise {
	first, second := chapters.Chapter{Name: "01-a"}, chapters.Chapter{Name: "02-b"}
	return []exercises.Exercise{
		{Chapter: first, Number: 1, Title: "One"}, {Chapter: first, Number: 2, Title: "Two"}, {Chapter: second, Number: 1, Title: "Three"},
	}
}

func TestBoundsOfReports(t *testing.T) {
	for sentence, test := range map[string]struct {
		report  Report
		wantErr string
	}{
		"a good one":                      {Report{Name: "Ana", Exercise: "01/1", Passing: 1, Tests: 2}, ""},
		"a name of 30 characters":         {Report{Name: strings.Repeat("ä", 30), Exercise: "01/1"}, ""},
		"spaces around the name":          {Report{Name: strings.Repeat(" ", 40) + "Ana ", Exercise: "01/1"}, ""},
		"no name":                         {Report{Exercise: "01/1"}, "the name is empty"},
		"a blank name":                    {Report{Name: " ", Exercise: "01/1"}, "the name is empty"},
		"a name of 31 characters":         {Report{Name: strings.Repeat("ä", 31), Exercise: "01/1"}, "longer than 30 characters"},
		"a line break in the name":        {Report{Name: "A\nna", Exercise: "01/1"}, "can't be printed"},
		"a name that turns the text":      {Report{Name: "A\u202ena", Exercise: "01/1"}, "can't be printed"},
		"a name that isn't UTF-8":         {Report{Name: "A\xffna", Exercise: "01/1"}, "can't be printed"},
		"an unknown exercise":             {Report{Name: "Ana", Exercise: "09/9"}, `doesn't know the exercise "09/9"`},
		"no exercise":                     {Report{Name: "Ana"}, `doesn't know the exercise ""`},
		"more tests pass than there are":  {Report{Name: "Ana", Exercise: "01/1", Passing: 2, Tests: 1}, "numbers of tests"},
		"less than none passes":           {Report{Name: "Ana", Exercise: "01/1", Passing: -1, Tests: 1}, "numbers of tests"},
		"more tests than any exercise":    {Report{Name: "Ana", Exercise: "01/1", Tests: 1000}, "numbers of tests"},
		"unknown exercises that are done": {Report{Name: "Ana", Exercise: "01/1", Done: []string{"09/9", "<b>"}}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			r := newRoom(theExercises())
			err := r.take(test.report)
			if test.wantErr == "" && err != nil || test.wantErr != "" && (err == nil || !strings.Contains(err.Error(), test.wantErr)) {
				t.Errorf("got the error %v, want %q", err, test.wantErr)
			}
			for _, p := range r.people {
				if len(p.passed) != 1 || p.name != strings.TrimSpace(test.report.Name) {
					t.Errorf("recorded %+v", p)
				}
			}
			if want := test.wantErr == ""; (len(r.people) == 1) != want {
				t.Errorf("there are %d people", len(r.people))
			}
		})
	}
}

func TestTheRoomIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(theExercises())
		for i := range mostPeople {
			if err := r.take(Report{Name: fmt.Sprint("person ", i), Exercise: "01/1"}); err != nil {
				t.Fatal(err)
			}
		}
		if err := r.take(Report{Name: "Ana", Exercise: "01/1"}); !errors.Is(err, errFull) {
			t.Errorf("one more: got the error %v, want %v", err, errFull)
		}
		if err := r.take(Report{Name: "person 7", Exercise: "01/2"}); err != nil {
			t.Errorf("somebody who is in the room: %v", err)
		}
		time.Sleep(forgotten) // on synctest's clock
		if err := r.take(Report{Name: "Ana", Exercise: "01/1"}); err != nil {
			t.Errorf("once the others have left: %v", err)
		}
	})
}

// cells returns what the table says about a person.
func cells(r *room, name string) string {
	var words []string
	for _, row := range rowsOf([]*person{r.people[name]}, r.exercises).People {
		for _, c := range row.Cells {
			words = append(words, c.Words)
		}
	}
	return strings.Join(words, " | ")
}

func TestTheCellsOfAPerson(t *testing.T) {
	r := newRoom(theExercises())
	for _, step := range []struct {
		report Report
		want   string
	}{
		{Report{Exercise: "01/2"}, "not touched | failed, now | not touched"},
		{Report{Exercise: "02/1", Done: []string{"01/1"}}, "passed | failed | failed, now"},
		{Report{Exercise: "01/2", Passed: true, Done: []string{"01/1", "01/2"}}, "passed | passed, now | failed"},
		{Report{Exercise: "01/2", Done: []string{"01/1"}}, "passed | failed, now | failed"},
		{Report{Exercise: "02/1"}, "not touched | failed | failed, now"}, // started over
		{Report{Exercise: "01/1", Unnamed: true}, "looking for the cause, now | failed | failed"},
		{Report{Exercise: "01/1"}, "failed, now | failed | failed"},
	} {
		step.report.Name = "Ana"
		if err := r.take(step.report); err != nil {
			t.Fatal(err)
		}
		if got := cells(r, "Ana"); got != step.want {
			t.Errorf("after %+v: got %q, want %q", step.report, got, step.want)
		}
	}
}

func TestPeopleAreSortedAndForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoom(theExercises())
		for _, name := range []string{"Zoë", "ben", "Ana"} {
			if err := r.take(Report{Name: name, Exercise: "01/1", Passing: 1, Tests: 3}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Minute)
		}
		html, _ := r.rows() // Zoë's last report came an hour ago
		if got := namesIn(html); !slices.Equal(got, []string{"Ana", "ben"}) {
			t.Errorf("got %q", got)
		}
		for _, want := range []string{"20 min ago", "40 min ago", "1 of 3 tests"} {
			if !strings.Contains(html, want) {
				t.Errorf("%q is missing in\n%s", want, html)
			}
		}
		time.Sleep(time.Hour)
		if html, _ := r.rows(); !strings.Contains(html, "Nobody has checked an exercise yet.") {
			t.Errorf("an empty room shows\n%s", html)
		}
	})
}

func namesIn(html string) (names []string) {
	for _, part := range strings.Split(html, "<bdi>")[1:] {
		name, _, _ := strings.Cut(part, "</bdi>")
		names = append(names, name)
	}
	return names
}
