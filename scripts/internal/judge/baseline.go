package judge

// The report as JSON, which is also a baseline: the findings of an earlier report are known, so that
// only new ones count.

import (
	"encoding/json"
	"io"
	"os"
	"regexp"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/problem"
)

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
			known.Insert(result.withoutNumbers(finding))
		}
	}
	for _, result := range r.Results {
		for i, finding := range result.Findings {
			result.Findings[i].Known = known.Has(result.withoutNumbers(finding))
		}
	}
}

// numbers are what a run has measured, such as 12 or 1.5s.
var numbers = regexp.MustCompile(`[0-9][0-9.]*(ms|s|m)?`)

// withoutNumbers is the part of a finding's text that is the same in each run.
func (r Result) withoutNumbers(finding Finding) string {
	return r.Check.Name + ": " + numbers.ReplaceAllString(finding.What, "N")
}
