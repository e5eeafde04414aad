package agenda

// What a chapter's README says: its one idea, and its headings.

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"example.com/operators/scripts/internal/chapters"
)

// readme is a chapter's README.
type readme struct {
	idea     string // the sentence in bold with which it begins
	headings []heading
}

type heading struct {
	level  int
	text   string
	parent string // the second-level heading above it; "" for one of that level
}

var boldBeginning = regexp.MustCompile(`(?m)^\*\*(.+?)\*\*`)

func readREADME(chapter chapters.Chapter) (readme, error) {
	source, err := os.ReadFile(filepath.Join(chapter.Dir, "README.md"))
	if err != nil {
		return readme{}, err
	}
	idea := boldBeginning.FindSubmatch(source)
	if idea == nil {
		return readme{}, fmt.Errorf("%s/README.md doesn't begin with its idea in bold", chapter.Name)
	}
	found := readme{idea: strings.TrimSuffix(string(idea[1]), ".")}
	parent := ""
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok || h.Lines().Len() == 0 {
			continue
		}
		line := h.Lines().At(0)
		title := string(line.Value(source))
		if h.Level == 2 {
			parent = ""
		}
		found.headings = append(found.headings, heading{h.Level, title, parent})
		if h.Level == 2 {
			parent = title
		}
	}
	return found, nil
}

// section is how a timetable calls the section with that heading: by the heading above it as well.
func (r readme) section(title string) (string, bool) {
	i := slices.IndexFunc(r.headings, func(h heading) bool { return h.text == title })
	switch {
	case i < 0:
		return "", false
	case r.headings[i].parent == "":
		return title, true
	}
	return r.headings[i].parent + ": " + title, true
}

// under are the third-level headings under a second-level one.
func (r readme) under(parent string) []string {
	var titles []string
	for _, h := range r.headings {
		if h.level == 3 && h.parent == parent {
			titles = append(titles, h.text)
		}
	}
	return titles
}
