package exercises

// The timetables of workshops in scripts/AGENDA.md.

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/problem"
)

// Agenda returns the page with all timetables.
func Agenda(root string) (string, error) {
	page, err := os.ReadFile(filepath.Join(root, "scripts", "AGENDA.md"))
	return string(page), err
}

// Timetable returns the section of the page about a workshop of that length, such as 90m, with its
// heading.
func Timetable(page, length string) (string, error) {
	_, after, found := strings.Cut(page, "\n## "+length+" (")
	if !found {
		return "", problem.New("there is no timetable %q", length).ToDo("choose 90m, 3h or 1day, the headings of scripts/AGENDA.md")
	}
	timetable, _, _ := strings.Cut(after, "\n## ")
	return "\n## " + length + " (" + timetable, nil
}

// InTimetable returns the exercises that a timetable has, in the same order.
func InTimetable(timetable string, all []Exercise) []Exercise {
	return slices.DeleteFunc(slices.Clone(all), func(e Exercise) bool {
		return !strings.Contains(timetable, "[Exercise "+e.Name()+":")
	})
}
