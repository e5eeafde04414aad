package checks

// The workshop's timetables in scripts/AGENDA.md, which people edit by hand.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/exercises"
)

var (
	timetable = regexp.MustCompile(`^## (\w+) \((\d+:\d\d)\): `)               // ## 3h (3:00): a watch, a cache
	timeSlot  = regexp.MustCompile(`^\| (\d+:\d\d) \| (\d+) \| (.+) \| .*\|$`) // | 0:35 | 15 | Break | |
)

// agenda: each timetable's rows follow on from one another and fill the time in its heading. Exercises have their own titles and minutes,
// and chapters their own ideas. That linked sections exist is checked with all other links.
func agenda(_ context.Context, r *repository) error {
	text, err := r.read("scripts", "AGENDA.md")
	if err != nil || text == "" { // the link in INSTRUCTOR.md fails then
		return err
	}
	named, err := rowsByLink(r)
	if err != nil {
		return err
	}
	say := func(line int, format string, args ...any) {
		r.say("scripts/AGENDA.md:%d: %s", line, fmt.Sprintf(format, args...))
	}
	name, length, minutes := "", "", 0
	fills := func(line int) {
		if sum := clock(minutes); name != "" && sum != length {
			say(line, "timetable %s takes %s, but its heading says %s", name, sum, length)
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if head := timetable.FindStringSubmatch(line); head != nil {
			fills(i)
			name, length, minutes = head[1], head[2], 0
		}
		if slot := timeSlot.FindStringSubmatch(line); slot != nil {
			if now := clock(minutes); slot[1] != now {
				say(i+1, "this row begins at %s, but the rows before it end at %s", slot[1], now)
			}
			more, _ := strconv.Atoi(slot[2]) // digits only
			minutes += more
		}
		for link, want := range named {
			if strings.HasPrefix(line, "|") && strings.Contains(line, link) && !strings.Contains(line, want+link) {
				say(i+1, "this row should have %q", want+link)
			}
		}
	}
	fills(len(lines))
	if name == "" {
		say(1, "it has no timetable, which begins with a heading such as %q", "## 3h (3:00): a watch, a cache")
	}
	return nil
}

// clock is a number of minutes as a timetable shows it: 1:05.
func clock(minutes int) string { return fmt.Sprintf("%d:%02d", minutes/60, minutes%60) }

// rowsByLink says what stands before the link to each exercise and chapter: its minutes and its title, or its idea.
func rowsByLink(r *repository) (map[string]string, error) {
	rows := map[string]string{}
	for _, chapter := range r.chapters {
		idea, err := chapter.Idea()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		rows["(../"+chapter.Name+"/README.md)"] = fmt.Sprintf("| | | **Chapter %s**: [%s]", chapter.Number(), idea)
	}
	found, err := exercises.All(r.root)
	for _, e := range found {
		rows["(../"+e.Path("README.md")+")"] = fmt.Sprintf("| %d | [Exercise %s: %s]", e.Minutes, e.Name(), e.Title)
	}
	return rows, err
}
