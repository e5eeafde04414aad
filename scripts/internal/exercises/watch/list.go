package watch

// The list of exercises, in which the user can move around.

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

type list struct {
	all       []exercises.Exercise
	at        int  // the selected exercise among those that match the filter
	filter    line // "": all match
	filtering bool // keys go to the filter
	resetting bool // the next key confirms or cancels the reset
	note      string
}

func newList(all []exercises.Exercise, selected exercises.Exercise) *list {
	return &list{all: all, at: max(0, slices.Index(all, selected))}
}

// matching returns the exercises whose number, chapter or title contains the filter.
func (l *list) matching() (found []exercises.Exercise) {
	for _, e := range l.all {
		words := strings.ToLower(fmt.Sprintf("%s %s %s", e.Name(), e.Chapter.Name, e.Title))
		if strings.Contains(words, strings.ToLower(l.filter.text)) {
			found = append(found, e)
		}
	}
	return found
}

func (l *list) selected() (e exercises.Exercise, ok bool) {
	found := l.matching()
	if len(found) == 0 {
		return e, false
	}
	return found[l.at], true
}

func (l *list) move(by int) { l.at = max(0, min(l.at+by, len(l.matching())-1)) }

// draw returns the screen. rows is the terminal's height.
func (l *list) draw(s *session, rows int) string {
	progress, err := exercises.ReadProgress(s.Checker.Root)
	if err != nil {
		return problem.Format(err) + "\n"
	}
	found := l.matching()
	lines := exercises.Rows(found, progress, s.Terminal.Colours)
	for i := range lines {
		lines[i] = "  " + lines[i]
		if i == l.at {
			lines[i] = s.Terminal.Colours.Bold.Sprint(">" + lines[i][1:])
		}
	}
	if len(lines) == 0 {
		lines = []string{"  No exercise matches."}
	}
	shown := max(1, rows-7) // without the lines above and below
	first := max(0, min(l.at-shown/2, len(lines)-shown))
	lines = lines[first:min(first+shown, len(lines))]
	title := "Exercises"
	if l.filter.text != "" {
		title = fmt.Sprintf("Exercises with %q", l.filter.text)
	}
	return strings.Join([]string{s.Terminal.Colours.Bold.Sprint(title), "", strings.Join(lines, "\n"), "",
		l.note, exercises.Bar(s.Exercises, progress), l.keys(), ""}, "\n")
}

func (l *list) keys() string {
	selected, _ := l.selected()
	switch {
	case l.resetting:
		return fmt.Sprintf("Reset %s %s? Your version is kept. y: yes, any other key: no", selected.Name(), selected.Title)
	case l.filtering:
		return "Filter by chapter, number or title: " + l.filter.text + "▏  (Enter: done, Esc: all)"
	}
	return "j k or arrows move   Enter open   / filter   r reset   l or Esc back   q quit"
}

// press handles a key while the list is open.
func (l *list) press(ctx context.Context, s *session, key string) error {
	selected, ok := l.selected()
	l.note = ""
	switch {
	case l.resetting:
		l.resetting = false
		if key == "y" {
			l.note = reset(ctx, s.Checker.Root, selected)
		}
	case key == keyDown || key == "j" && !l.filtering:
		l.move(1)
	case key == keyUp || key == "k" && !l.filtering:
		l.move(-1)
	case l.filtering:
		l.typeFilter(key)
	case key == "/":
		l.filtering = true
	case key == "r":
		l.resetting = ok
	case key == keyEnter && ok:
		s.list = nil
		return s.open(ctx, selected)
	case key == "l" || key == keyEscape:
		s.list = nil
	}
	s.redraw()
	return nil
}

func (l *list) typeFilter(key string) {
	selected, _ := l.selected()
	switch key {
	case keyEnter:
		l.filtering = false
	case keyEscape:
		l.filtering, l.filter.text = false, ""
	default:
		l.filter.take(key)
	}
	l.at = max(0, slices.Index(l.matching(), selected)) // stays selected, if it still matches
}

func reset(ctx context.Context, root string, e exercises.Exercise) (result string) {
	changed, kept, err := exercises.Reset(ctx, root, e, time.Now())
	switch {
	case err != nil:
		return problem.Format(err)
	case kept != "":
		return fmt.Sprintf("%s is reset. Your version is kept: %s", e.Name(), kept)
	case changed:
		return e.Name() + " is restored."
	}
	return e.Name() + " hadn't been changed."
}
