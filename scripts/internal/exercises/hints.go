package exercises

// Showing hints one by one.

import (
	"fmt"
	"os"
	"strings"

	"example.com/operators/scripts/internal/ui"
)

// hintTitles are the three sections of every hints.md: the same three steps in each exercise.
var hintTitles = []string{"A nudge", "An approach", "Nearly the answer"}

type Hint struct {
	Title string
	Text  string // without the heading
}

// Hints reads an exercise's hints, the gentlest first.
func Hints(e Exercise) ([]Hint, error) {
	source, err := os.ReadFile(e.File(HintsFile))
	if err != nil {
		return nil, fmt.Errorf("read the hints of %s: %w", e.Name(), err)
	}
	sections := strings.Split("\n"+string(source), "\n## ")[1:] // without what is above the first heading
	var hints []Hint
	valid := len(sections) == len(hintTitles)
	for i, section := range sections {
		title, text, _ := strings.Cut(section, "\n")
		hint := Hint{strings.TrimSpace(title), plainText(text)}
		valid = valid && hint.Title == hintTitles[i] && hint.Text != ""
		hints = append(hints, hint)
	}
	if !valid {
		return nil, fmt.Errorf("%s: it needs a text below each of the headings %q, and no others",
			e.Path(HintsFile), hintTitles)
	}
	return hints, nil
}

// NextHint returns the next hint, and records that. After the last hint, it repeats the last.
func NextHint(root string, e Exercise, colours ui.Palette) (string, error) {
	hints, err := Hints(e)
	if err != nil {
		return "", err
	}
	shown := 0
	err = UpdateProgress(root, e, func(r *Record) {
		r.Hints = min(r.Hints+1, len(hints))
		shown = r.Hints
	})
	if err != nil {
		return "", err
	}
	hint := hints[shown-1]
	page := colours.Bold.Sprintf("Hint %d of %d: %s", shown, len(hints), hint.Title) + "\n\n" + ui.Wrap(hint.Text) + "\n\n"
	if shown == len(hints) {
		page += fmt.Sprintf("That was the last one. The solution: ./scripts/workshop solution %s --spoil\n", e.Name())
	}
	return page, nil
}
