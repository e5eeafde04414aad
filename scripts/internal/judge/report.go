package judge

// The report for the terminal, as HTML, and as JSON, which is also a baseline: the findings of an
// earlier report are known, so that only new ones count.

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/lens"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// Report is what one run has found out.
type Report struct {
	Version  string   `json:"version"` // set by WriteJSON
	Operator string   `json:"operator"`
	Results  []Result `json:"results"`
}

func (r Report) count(verdict Verdict) (count int) {
	for _, result := range r.Results {
		if result.Verdict == verdict {
			count++
		}
	}
	return count
}

// newFindings are those that the baseline doesn't have.
func (r Result) newFindings() []Finding {
	return slices.DeleteFunc(slices.Clone(r.Findings), func(f Finding) bool { return f.Known })
}

// Status is the exit status: 1 if there are new findings, or else 2 if something could not be judged,
// or else 0. If the judge itself has failed, it is 2 in any case.
func (r Report) Status() int {
	switch {
	case r.count(Failed) > 0:
		return 2
	case slices.ContainsFunc(r.Results, func(r Result) bool { return len(r.newFindings()) > 0 }):
		return 1
	case r.count(Unjudged) > 0:
		return 2
	}
	return 0
}

// Summary is one line about all results.
func (r Report) Summary() string {
	text := fmt.Sprintf("%d passed, %d with findings, %d skipped, %d not judged",
		r.count(Passed), r.count(Found), r.count(Skipped), r.count(Unjudged)+r.count(Failed))
	known := 0
	for _, result := range r.Results {
		known += len(result.Findings) - len(result.newFindings())
	}
	if known > 0 {
		text += fmt.Sprintf("; findings that are in the baseline: %d", known)
	}
	return text
}

// WriteCard writes the report card: a line for each check, and then the findings, the worst first.
func (r Report) WriteCard(w io.Writer, colours ui.Palette) {
	marks := map[Verdict]string{
		Passed: colours.Green.Sprint("✓"), Found: colours.Red.Sprint("✗"), Skipped: colours.Grey.Sprint("-"),
		Unjudged: colours.Red.Sprint("?"), Failed: colours.Red.Sprint("!"),
	}
	width := 0
	for _, result := range r.Results {
		width = max(width, len(result.Check.Name))
	}
	indent := strings.Repeat(" ", width+4)
	kind := ""
	for _, result := range r.Results {
		if result.Kind != "" && result.Kind != kind {
			kind = result.Kind
			fmt.Fprintf(w, "%s:\n", kind)
		}
		fmt.Fprintf(w, "%s %-*s  %s (%s)\n", marks[result.Verdict], width, result.Check.Name, result.Promise, result.took())
		if result.Why != "" {
			why, _, _ := strings.Cut(result.Why, "\n")
			fmt.Fprintf(w, "%s%s: %s\n", indent, result.Verdict, why)
		}
		for _, measure := range result.Measures {
			fmt.Fprintf(w, "%s%s\n", indent, colours.Grey.Sprint(measure))
		}
	}
	for _, severity := range []Severity{Error, Warning} {
		for _, result := range r.Results {
			for _, finding := range result.newFindings() {
				if finding.Severity == severity {
					writeFinding(w, colours, result, finding)
				}
			}
		}
	}
	fmt.Fprintf(w, "\n%s\n", r.Summary())
}

// name is that of the check, and the kind.
func (r Result) name() string { return strings.TrimSuffix(r.Check.Name+" of "+r.Kind, " of ") }

func (r Result) took() time.Duration { return r.Ended.Sub(r.Began).Round(100 * time.Millisecond) }

func writeFinding(w io.Writer, colours ui.Palette, result Result, finding Finding) {
	severity := colours.Red.Sprint(strings.ToUpper(string(finding.Severity)))
	fmt.Fprintf(w, "\n%s %s: %s\n", severity, result.name(), finding.What)
	for _, where := range finding.Where {
		fmt.Fprintf(w, "  - %s\n", where)
	}
	for i, evidence := range finding.Evidence {
		if i == 5 {
			fmt.Fprintf(w, "  … %d more: the HTML report shows all\n", len(finding.Evidence)-i)
			break
		}
		fmt.Fprintf(w, "  %5.1fs  %s\n", evidence.At.Sub(result.Began).Seconds(), evidence.Text)
	}
	fmt.Fprintf(w, "  What to change: %s\n", result.Check.Fix)
	lesson := fmt.Sprintf("see %s, and judge explain %s", result.Check.Lesson, result.Check.Name)
	fmt.Fprintf(w, "  %s\n", colours.Grey.Sprint(lesson))
}

//go:embed report.html
var page string

var pageTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"since": func(at, began time.Time) string { return fmt.Sprintf("%8.3f s", at.Sub(began).Seconds()) },
	"took":  Result.took,
	"name":  Result.name,
	"lens":  lensOf,
}).Parse(page))

// WriteHTML writes the report as an HTML file.
func (r Report) WriteHTML(w io.Writer) error { return pageTemplate.Execute(w, r) }

// around is how many of a check's items lens shows before and after the selected one.
const around = 500

// lensOf returns lens's page of a finding, or "" if nothing is recorded. It shows what led to the first
// request in the evidence.
func lensOf(r Result, f Finding) (string, error) {
	if len(r.Recorded) == 0 {
		return "", nil
	}
	look := &lens.Shown{Title: f.What, Text: strings.Join(append(f.Where, r.Check.Why), ". "), Done: true}
	for _, evidence := range slices.Backward(f.Evidence) {
		if i := slices.IndexFunc(r.Recorded, evidence.isRequest); i >= 0 {
			look.Select = r.Recorded[i].ID
		}
	}
	middle := cmp.Or(look.Select, len(r.Recorded))
	items := r.Recorded[max(0, middle-around):min(len(r.Recorded), middle+around)]
	programs := sets.New[string]()
	for _, item := range items {
		programs.Insert(item.Program)
	}
	var page strings.Builder
	controls := lens.Controls{Title: r.name(), Programs: sets.List(programs.Delete("")), Look: look, Actor: "the judge"}
	err := lens.WriteHTML(&page, controls, items)
	return page.String(), err
}

// isRequest reports whether lens's item is the request in the evidence.
func (e Evidence) isRequest(item lens.Item) bool {
	return item.Lane == lens.Requests && float64(e.At.UnixMicro())/1000 == item.Until && strings.HasPrefix(item.Detail, e.Text)
}

// formatVersion is the version of the JSON report. docs/judge.md describes the format.
const formatVersion = "v1"

// WriteJSON writes the report as JSON.
func (r Report) WriteJSON(w io.Writer) error {
	r.Version = formatVersion
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// ReadReport reads a report that WriteJSON has written.
func ReadReport(file string) (r Report, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(content, &r); err != nil || r.Version != formatVersion {
		return r, problem.New("%s isn't a report of version %s", file, formatVersion).
			ToDo("write one with judge -o json").Because(err)
	}
	return r, nil
}

// Compare marks the findings that the baseline has too as known.
func (r Report) Compare(baseline Report) {
	known := sets.New[string]()
	for _, result := range baseline.Results {
		for _, finding := range result.Findings {
			known.Insert(result.places(finding)...)
		}
	}
	for _, result := range r.Results {
		for i, finding := range result.Findings {
			result.Findings[i].Known = known.HasAll(result.places(finding)...)
		}
	}
}

// numbers are what a run has measured, such as 12 or 1.5s.
var numbers = regexp.MustCompile(`[0-9][0-9.]*(ms|s|m)?`)

// places are a finding's texts, one for each place, without what differs from run to run.
func (r Result) places(finding Finding) (texts []string) {
	for _, where := range append(finding.Where, "") {
		texts = append(texts, numbers.ReplaceAllString(r.name()+": "+finding.What+": "+where, "N"))
	}
	return texts
}
