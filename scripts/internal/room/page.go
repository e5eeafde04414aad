package room

// The page. html/template escapes everything in it. The table's rows are a template of their own,
// so that the first page and each update are drawn by the same code.

import (
	_ "embed"
	"fmt"
	"html/template"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/ui"
)

//go:embed page.html
var pageHTML string

var page = template.Must(template.New("page").Parse(pageHTML))

// draw draws one of the templates, whose values are all in memory.
func draw(name string, data any) string {
	var html strings.Builder
	if err := page.ExecuteTemplate(&html, name, data); err != nil {
		panic(err) // the template doesn't fit its data, which is a bug
	}
	return html.String()
}

type pageData struct {
	Nonce    string // lets the page's own script and style through its Content-Security-Policy
	Events   string // the path of the stream of updates
	Join     []string
	Chapters []chapterHead
	Rows     template.HTML // drawn by the template rows
}

type chapterHead struct {
	Number    string
	Exercises []exercises.Exercise
}

type rowsData struct {
	People  []row
	Columns int // of the whole table
}

type row struct {
	Name, Now, Tests, Heard string
	Cells                   []cell
}

// cell is one exercise of one person.
type cell struct {
	Class, Mark, Words string
}

const otherColumns = 4 // name, exercise, tests, last message

// headsOf groups the exercises by chapter. They are sorted by chapter.
func headsOf(all []exercises.Exercise) (heads []chapterHead) {
	for i, e := range all {
		if i == 0 || all[i-1].Chapter != e.Chapter {
			heads = append(heads, chapterHead{Number: e.Chapter.Number()})
		}
		last := &heads[len(heads)-1]
		last.Exercises = append(last.Exercises, e)
	}
	return heads
}

func rowsOf(people []*person, all []exercises.Exercise) rowsData {
	data := rowsData{Columns: len(all) + otherColumns}
	for _, p := range people {
		r := row{Name: p.name, Now: p.now, Tests: "no tests ran", Heard: age(time.Since(p.heard))}
		if p.tests > 0 {
			r.Tests = fmt.Sprintf("%d of %s", p.passing, ui.Plural(p.tests, "test"))
		}
		for _, e := range all {
			r.Cells = append(r.Cells, p.cell(e.Name()))
		}
		data.People = append(data.People, r)
	}
	return data
}

func (p *person) cell(exercise string) cell {
	c := cell{"grey", "·", "not touched"}
	if passed, touched := p.passed[exercise]; passed {
		c = cell{"passed", "✓", "passed"}
	} else if touched {
		c = cell{"failed", "✗", "failed"}
	} else if exercise == p.now {
		c = cell{"grey", "?", "looking for the cause"}
	}
	if exercise == p.now {
		c.Class, c.Words = c.Class+" now", c.Words+", now"
	}
	return c
}

// age is rounded to minutes, so that the page changes at most once a minute without a report.
func age(since time.Duration) string {
	if since < time.Minute {
		return "just now"
	}
	return fmt.Sprintf("%d min ago", int(since.Minutes()))
}
