package exercises

// Hints: one more each time that a learner asks.

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
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
	source, err := os.ReadFile(e.File(hintsFile))
	if err != nil {
		return nil, fmt.Errorf("read the hints of %s: %w", e.Name(), err)
	}
	hints := sections(source)
	var titles []string
	for _, hint := range hints {
		titles = append(titles, hint.Title)
		if hint.Text == "" {
			return nil, fmt.Errorf("%s: %q is empty", e.Path(hintsFile), hint.Title)
		}
	}
	if !slices.Equal(titles, hintTitles()) {
		return nil, fmt.Errorf("%s: its second-level headings are %q, want %q", e.Path(hintsFile), titles, hintTitles())
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

// ShowHint shows one hint more than were shown before, or all, and remembers it. When there are no more, it shows the last one
// again.
func ShowHint(ctx context.Context, root string, e Exercise, all bool, w io.Writer, colour bool) error {
	hints, err := Hints(e)
	if err != nil {
		return err
	}
	var shown, last int
	err = UpdateProgress(ctx, root, e, func(r *Record) {
		shown, last = r.Hints, min(r.Hints+1, len(hints))
		if all {
			shown, last = 0, len(hints)
		}
		r.Hints = last
	})
	if err != nil {
		return err
	}
	p := newPrinter(colour)
	for i := min(shown, last-1); i < last; i++ {
		p.say("%s\n\n%s\n", p.Bold.Sprintf("Hint %d of %d: %s", i+1, len(hints), hints[i].Title), hints[i].Text)
	}
	if last == len(hints) {
		p.say("That was the last one. The solution: ./scripts/workshop solution %s --spoil", e.Name())
	}
	return p.flush(w)
}
