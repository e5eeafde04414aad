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

// Hints returns the texts of an exercise's hints, the gentlest first.
func Hints(e Exercise) (texts []string, err error) {
	source, err := os.ReadFile(e.File(HintsFile))
	if err != nil {
		return nil, fmt.Errorf("read the hints of %s: %w", e.Name(), err)
	}
	sections := strings.Split("\n"+string(source), "\n## ")[1:] // without what is above the first heading
	valid := len(sections) == len(hintTitles)
	for i, section := range sections {
		title, text, _ := strings.Cut(section, "\n")
		texts = append(texts, plainText(text))
		valid = valid && strings.TrimSpace(title) == hintTitles[i] && texts[i] != ""
	}
	if !valid {
		return nil, fmt.Errorf("%s: it needs a text below each of the headings %q, and no others",
			e.Path(HintsFile), hintTitles)
	}
	return texts, nil
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
	title := colours.Bold.Sprintf("Hint %d of %d: %s", shown, len(hints), hintTitles[shown-1])
	page := title + "\n\n" + ui.Wrap(hints[shown-1]) + "\n\n"
	if shown == len(hints) {
		page += fmt.Sprintf("That was the last one. The solution: ./scripts/workshop solution %s --spoil\n", e.Name())
	}
	return page, nil
}
