package judge

// The report as one HTML file, which needs nothing else: findings, their evidence, and a timeline of
// the requests of each check.

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"example.com/operators/scripts/internal/operator"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"since":   func(at, began time.Time) string { return fmt.Sprintf("%.3f s", at.Sub(began).Seconds()) },
	"took":    Result.took,
	"lanes":   lanes,
	"verdict": func(r Result) string { return strings.ReplaceAll(string(r.Verdict), " ", "-") },
}).Parse(page))

// WriteHTML writes the report as an HTML file.
func (r Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

// lane is a line of the timeline: the requests for one resource and verb.
type lane struct {
	Title string
	Marks []mark
}

// mark is a request, or what the judge did, at a place of the timeline in percent.
type mark struct {
	X     float64
	Class string
	Title string
}

// lanes are the timeline of a result. The first lane is what the judge did.
func lanes(r Result) (all []*lane) {
	whole := r.Ended.Sub(r.Began).Seconds()
	if whole <= 0 {
		return nil
	}
	byTitle := map[string]*lane{}
	add := func(title, class string, at time.Time, text string) {
		if byTitle[title] == nil {
			byTitle[title] = &lane{Title: title}
			all = append(all, byTitle[title])
		}
		after := at.Sub(r.Began).Seconds()
		x := 100 * min(1, max(0, after/whole))
		byTitle[title].Marks = append(byTitle[title].Marks, mark{x, class, fmt.Sprintf("%.3f s: %s", after, text)})
	}
	for _, step := range r.Steps {
		add("the judge", "step", step.At, step.Text)
	}
	for _, request := range r.Requests {
		title, class := operator.Right(request.Verb, request.Resource, request.Group), "ok"
		if request.Resource == "" {
			title = "discovery"
		}
		if request.Code >= 400 {
			class = "refused"
		}
		add(title, class, request.Answered, fmt.Sprintf("%s %s: %d", request.Verb, request.URI, request.Code))
	}
	return all
}
