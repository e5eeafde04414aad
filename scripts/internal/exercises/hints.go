package exercises

// Showing hints one by one.

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/ui"
)

// hintTitles are the three sections of every hints.md: the same three steps in each exercise.
func hintTitles() []string { return []string{"A nudge", "An approach", "Nearly the answer"} }

type Hint struct {
	Title string
	Text  string // Markdown, without the heading
}

// Hints reads an exercise's hints, the gentlest first.
func Hints(e Exercise) ([]Hint, error) {
	source, err := os.ReadFile(e.File(HintsFile))
	if err != nil {
		return nil, fmt.Errorf("read the hints of %s: %w", e.Name(), err)
	}
	hints := sections(string(source))
	var titles []string
	for _, hint := range hints {
		titles = append(titles, hint.Title)
		if hint.Text == "" {
			return nil, fmt.Errorf("%s: %q is empty", e.Path(HintsFile), hint.Title)
		}
	}
	if !slices.Equal(titles, hintTitles()) {
		return nil, fmt.Errorf("%s: its second-level headings are %q, want %q", e.Path(HintsFile), titles, hintTitles())
	}
	return hints, nil
}

// sections returns the text below each second-level heading that isn't in code.
func sections(text string) (hints []Hint) {
	code := false
	for line := range strings.Lines(text) {
		code = code != strings.HasPrefix(line, "```")
		if title, ok := strings.CutPrefix(line, "## "); ok && !code {
			hints = append(hints, Hint{Title: strings.TrimSpace(title)})
		} else if len(hints) > 0 {
			hints[len(hints)-1].Text += line
		}
	}
	for i := range hints {
		hints[i].Text = strings.TrimSpace(hints[i].Text)
	}
	return hints
}

// NextHint returns the next hint, or all, and records that. After the last hint, it repeats the
// last.
func NextHint(ctx context.Context, root string, e Exercise, all bool, colours ui.Palette) (string, error) {
	hints, err := Hints(e)
	if err != nil {
		return "", err
	}
	var first, last int
	err = UpdateProgress(ctx, root, e, func(r *Record) {
		last = min(r.Hints+1, len(hints))
		first = last - 1
		if all {
			first, last = 0, len(hints)
		}
		r.Hints = last
	})
	if err != nil {
		return "", err
	}
	var page strings.Builder
	for i, hint := range hints[first:last] {
		heading := colours.Bold.Sprintf("Hint %d of %d: %s", first+i+1, len(hints), hint.Title)
		fmt.Fprintf(&page, "%s\n\n%s\n\n", heading, hint.Text)
	}
	if last == len(hints) {
		fmt.Fprintf(&page, "That was the last one. The solution: ./scripts/workshop solution %s --spoil\n", e.Name())
	}
	return page.String(), nil
}
