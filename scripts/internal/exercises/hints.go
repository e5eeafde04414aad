package exercises

// Hints, one more each time that a learner asks, and the solution.

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"example.com/operators/scripts/internal/ui"
)

// hintTitles are the three sections of every hints.md: the same three steps in each exercise.
func hintTitles() []string { return []string{"A nudge", "An approach", "Nearly the answer"} }

// Hint is one section of hints.md.
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
	hints := sections(source)
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

// sections splits a text at its second-level headings. What comes before the first is left out.
func sections(source []byte) []Hint {
	var hints []Hint
	start := 0 // of the last section's text
	end := func(at int) {
		if len(hints) > 0 {
			hints[len(hints)-1].Text = strings.TrimSpace(string(source[start:at]))
		}
	}
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		heading, ok := n.(*ast.Heading)
		if !ok || heading.Level != 2 || heading.Lines().Len() == 0 {
			continue
		}
		line := heading.Lines().At(0)
		end(bytes.LastIndexByte(source[:line.Start], '\n') + 1)
		hints = append(hints, Hint{Title: string(line.Value(source))})
		start = line.Stop
	}
	end(len(source))
	return hints
}

// NextHint returns one hint more than were shown before, or all, and remembers it. After the last one it is the last again.
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

// Solution is the solution, without the line that keeps it from being built.
func Solution(e Exercise) (string, error) {
	content, err := os.ReadFile(e.File(SolutionFile))
	if err != nil {
		return "", fmt.Errorf("read the solution of %s: %w", e.Name(), err)
	}
	return strings.TrimLeft(strings.TrimPrefix(string(content), "//go:build "+TagSolution), "\r\n"), nil
}
