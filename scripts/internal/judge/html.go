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
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"since":   func(at, began time.Time) string { return fmt.Sprintf("%.3f s", at.Sub(began).Seconds()) },
	"took":    func(r Result) string { return r.Ended.Sub(r.Began).Round(100 * time.Millisecond).String() },
	"lanes":   lanes,
	"verdict": func(r Result) string { return strings.ReplaceAll(string(r.Verdict), " ", "-") },
	"lesson":  func(r Result) string { return checkOf(r).Lesson },
	"reason":  func(r Result) string { return checkOf(r).Why },
}).Parse(page))

// WriteHTML writes the report as an HTML file.
func (r Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

func checkOf(r Result) Check {
	for _, check := range All() {
		if check.Name == r.Check {
			return check
		}
	}
	return Check{}
}

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
func lanes(r Result) (all []lane) {
	whole := r.Ended.Sub(r.Began).Seconds()
	if whole <= 0 {
		return nil
	}
	at := func(when time.Time) float64 { return 100 * min(1, max(0, when.Sub(r.Began).Seconds()/whole)) }
	steps := lane{Title: "the judge"}
	for _, step := range r.Steps {
		steps.Marks = append(steps.Marks, mark{at(step.At), "step", fmt.Sprintf("%.3f s: %s", step.At.Sub(r.Began).Seconds(), step.Text)})
	}
	all = append(all, steps)
	index := map[string]int{}
	for _, request := range r.Requests {
		title := request.Verb
		if request.Resource != "" {
			title += " " + request.Resource
		} else {
			title = "discovery"
		}
		if _, known := index[title]; !known {
			index[title] = len(all)
			all = append(all, lane{Title: title})
		}
		class := "ok"
		if request.Code >= 400 {
			class = "refused"
		}
		l := &all[index[title]]
		l.Marks = append(l.Marks, mark{at(request.At), class, fmt.Sprintf("%.3f s: %s %s: %d", request.At.Sub(r.Began).Seconds(), request.Verb, request.URI, request.Code)})
	}
	return all
}
