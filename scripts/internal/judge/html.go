package judge

// The report as one HTML file, which needs nothing else: findings, their evidence, and what happened
// during each check.

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"
)

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"since":    func(at, began time.Time) string { return fmt.Sprintf("%8.3f s", at.Sub(began).Seconds()) },
	"took":     Result.took,
	"timeline": timeline,
}).Parse(page))

// WriteHTML writes the report as an HTML file.
func (r Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

// timeline is what the judge did and what the operator has sent, in the order of time.
func timeline(r Result) []Evidence {
	events := slices.Clone(r.Steps)
	for _, request := range r.Requests {
		events = append(events, Evidence{At: request.Answered, Text: request.String()})
	}
	slices.SortStableFunc(events, func(a, b Evidence) int { return a.At.Compare(b.At) })
	return events
}
