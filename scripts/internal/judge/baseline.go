package judge

// A baseline is an earlier report. Its findings are known, so that only new ones fail.

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/problem"
)

// ReadReport reads a report that was written with -o json.
func ReadReport(file string) (r Report, err error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(content, &r); err != nil || r.Version != FormatVersion {
		return r, problem.New("%s isn't a report of version %s", file, FormatVersion).
			ToDo("write one with judge -o json").Because(err)
	}
	return r, nil
}

// Compare marks the findings that the baseline has too as known.
func (r Report) Compare(baseline Report) {
	known := sets.New[string]()
	for _, result := range baseline.Results {
		for _, finding := range result.Findings {
			known.Insert(result.Check + ": " + withoutNumbers(finding.What))
		}
	}
	for _, result := range r.Results {
		for i, finding := range result.Findings {
			result.Findings[i].Known = known.Has(result.Check + ": " + withoutNumbers(finding.What))
		}
	}
}

// numbers are what a run has measured, such as 12 or 1.5s.
var numbers = regexp.MustCompile(`[0-9][0-9.]*(ms|s|m)?`)

// withoutNumbers is the part of a finding's text that is the same in each run.
func withoutNumbers(text string) string { return numbers.ReplaceAllString(text, "N") }

// Status is the exit status: 1 if there are findings that aren't known, or else 2 if something could
// not be judged, or else 0. If the judge itself has failed, it is 2 in any case.
func (r Report) Status() int {
	switch {
	case r.Count(Failed) > 0:
		return 2
	case slices.ContainsFunc(r.Results, isNew):
		return 1
	case r.Count(Unjudged) > 0:
		return 2
	}
	return 0
}

// isNew reports whether the result has a finding that the baseline doesn't have.
func isNew(r Result) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return !f.Known })
}

// Summary is one line about all results.
func (r Report) Summary() string {
	known := 0
	for _, result := range r.Results {
		for _, finding := range result.Findings {
			if finding.Known {
				known++
			}
		}
	}
	text := fmt.Sprintf("%d passed, %d with findings, %d skipped, %d not judged", r.Count(Passed), r.Count(Found), r.Count(Skipped), r.Count(Unjudged)+r.Count(Failed))
	if known > 0 {
		text += fmt.Sprintf("; %d findings are known from the baseline", known)
	}
	return text
}
