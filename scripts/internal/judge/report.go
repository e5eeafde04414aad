package judge

// The report for the terminal.

import (
	"fmt"
	"io"
	"strings"
	"time"

	"example.com/operators/scripts/internal/ui"
)

// FormatVersion is the version of the JSON report.
const FormatVersion = "v1"

// Report is what one run has found out.
type Report struct {
	Version  string   `json:"version"` // FormatVersion
	Operator string   `json:"operator"`
	Results  []Result `json:"results"`
}

// Count returns how many results have that verdict.
func (r Report) Count(verdict Verdict) (count int) {
	for _, result := range r.Results {
		if result.Verdict == verdict {
			count++
		}
	}
	return count
}

// WriteCard writes the report card: a line for each check, and then the findings, the worst first.
func (r Report) WriteCard(w io.Writer, colours ui.Palette) {
	width := 0
	for _, result := range r.Results {
		width = max(width, len(result.Check))
	}
	for _, result := range r.Results {
		mark := map[Verdict]string{Passed: colours.Green.Sprint("✓"), Found: colours.Red.Sprint("✗"), Skipped: colours.Grey.Sprint("-"), Unjudged: colours.Red.Sprint("?"), Failed: colours.Red.Sprint("!")}[result.Verdict]
		fmt.Fprintf(w, "%s %-*s  %s (%s)\n", mark, width, result.Check, result.Promise, result.Ended.Sub(result.Began).Round(100*time.Millisecond))
		if result.Why != "" {
			fmt.Fprintf(w, "  %-*s  %s: %s\n", width, "", result.Verdict, firstLine(result.Why))
		}
		for _, m := range result.Measures {
			fmt.Fprintf(w, "  %-*s  %s\n", width, "", colours.Grey.Sprint(m))
		}
	}
	for _, severity := range []Severity{Error, Warning} {
		for _, result := range r.Results {
			for _, finding := range result.Findings {
				if finding.Severity == severity && !finding.Known {
					writeFinding(w, colours, result, finding)
				}
			}
		}
	}
	fmt.Fprintf(w, "\n%s\n", r.Summary())
}

func writeFinding(w io.Writer, colours ui.Palette, result Result, finding Finding) {
	fmt.Fprintf(w, "\n%s %s: %s\n", colours.Red.Sprint(strings.ToUpper(string(finding.Severity))), result.Check, finding.What)
	for i, evidence := range finding.Evidence {
		if i == 5 {
			fmt.Fprintf(w, "  … %d more: the HTML report shows all\n", len(finding.Evidence)-i)
			break
		}
		fmt.Fprintf(w, "  %s  %s\n", evidence.At.Sub(result.Began).Round(time.Millisecond), evidence.Text)
	}
	fmt.Fprintf(w, "  %s\n", colours.Grey.Sprintf("see %s, and judge explain %s", checkOf(result).Lesson, result.Check))
}

func (m Measure) String() string {
	return strings.TrimSpace(fmt.Sprintf("%s: %.4g %s", m.Name, m.Value, m.Unit))
}

func firstLine(text string) string {
	first, _, _ := strings.Cut(text, "\n")
	return first
}
