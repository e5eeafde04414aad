package judge

// What the judge finds out: results, findings and their evidence, and how objects, bodies and errors
// look in them.

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/lens"
)

// Verdict is a check's outcome.
type Verdict string

const (
	Passed   Verdict = "passed"
	Found    Verdict = "found"      // there are findings
	Skipped  Verdict = "skipped"    // the check doesn't apply to this operator; Result.Why says why
	Unjudged Verdict = "not judged" // it applies, but couldn't be judged; Result.Why says why
	Failed   Verdict = "failed"     // the judge itself couldn't finish; Result.Why says why
)

// Severity is how bad a finding is.
type Severity string

const (
	// Error is a broken promise: users lose something, or the cluster suffers.
	Error Severity = "error"
	// Warning costs something, but breaks nothing yet.
	Warning Severity = "warning"
)

// Result is what one check has found out. The JSON report has the check's name and promise.
type Result struct {
	Check
	// Kind is the sample's, if the operator manages several and the check is about one of them.
	Kind     string      `json:"kind,omitempty"`
	Verdict  Verdict     `json:"verdict"`
	Why      string      `json:"why,omitempty"`
	Findings []Finding   `json:"findings,omitempty"`
	Measures []string    `json:"measures,omitempty"` // without a verdict
	Began    time.Time   `json:"began"`
	Ended    time.Time   `json:"ended"`
	Log      string      `json:"-"` // the end of the operator's log, if there are findings
	Recorded []lens.Item `json:"-"` // what lens shows of the findings, if it is recorded
}

// Finding is one thing that is wrong. What has no random names, so that the same finding has the
// same text in the next run, except for what has been measured.
type Finding struct {
	Severity Severity `json:"severity"`
	// Cause is the check that finds the same in a simpler case, such as without a fault, or "".
	Cause    string     `json:"cause,omitempty"`
	What     string     `json:"what"`
	Where    []string   `json:"where,omitempty"` // if the same is wrong in several places
	Evidence []Evidence `json:"evidence"`
	// Known says that the baseline has it too.
	Known bool `json:"known,omitempty"`
}

func (f Finding) String() string {
	if len(f.Where) == 0 {
		return f.What
	}
	return f.What + ": " + strings.Join(f.Where, ", ")
}

// together makes one finding of those that say the same about several places.
func together(findings []Finding) (all []Finding) {
	for _, finding := range findings {
		i := slices.IndexFunc(all, func(f Finding) bool { return f.What == finding.What && len(f.Where) > 0 })
		if i < 0 {
			all = append(all, finding)
			continue
		}
		if finding.Severity == Error {
			all[i].Severity = Error
		}
		if !slices.Contains(all[i].Where, finding.Where[0]) {
			all[i].Where = append(all[i].Where, finding.Where[0])
		}
		all[i].Evidence = append(all[i].Evidence, finding.Evidence...)
	}
	return all
}

// Evidence is something that has been seen: a request, a version of an object, a line of the log.
type Evidence struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// Detail is a diff or a body, and may be "".
	Detail string `json:"detail,omitempty"`
}

// onePerCause drops the findings that another check has in a simpler case. If no others are left, the
// check is skipped.
func onePerCause(results []Result) {
	found := map[string]bool{}
	for _, result := range results {
		found[result.Check.Name] = len(result.Findings) > 0
	}
	for i := range results {
		result := &results[i]
		var cause string
		result.Findings = slices.DeleteFunc(result.Findings, func(f Finding) bool {
			isKnown := found[f.Cause] && f.Cause != result.Check.Name
			if isKnown {
				cause = f.Cause
			}
			return isKnown
		})
		result.Findings = together(result.Findings)
		if cause != "" && len(result.Findings) == 0 {
			result.Verdict, result.Why = Skipped, "its findings have the same cause as those of "+cause+": fix those first"
		}
	}
}

// noted is evidence of this moment, without a detail.
func noted(format string, args ...any) Evidence {
	return Evidence{At: time.Now(), Text: fmt.Sprintf(format, args...)}
}

// mostShown is how many requests a finding shows.
const mostShown = 10

// asEvidence returns the first few requests, and says how many more there are.
func asEvidence(requests []audit.Request) (evidence []Evidence) {
	for i, r := range requests {
		if i == mostShown {
			return append(evidence, Evidence{At: r.Answered, Text: fmt.Sprintf("… and %d more", len(requests)-mostShown)})
		}
		evidence = append(evidence, Evidence{r.Answered, r.String(), audit.Readable(r.Body)})
	}
	return evidence
}

// asYAML is an object without managedFields.
func asYAML(object *unstructured.Unstructured) string {
	object = object.DeepCopy()
	object.SetManagedFields(nil)
	content, _ := yaml.Marshal(object.Object) // an object of the API server can't fail
	return string(content)
}

func asJSON(value any) string {
	content, _ := json.Marshal(value) // strings and maps can't fail
	return string(content)
}

// random matches what differs between two runs: the namespace, and how long it took.
var random = regexp.MustCompile(`judge-[a-z0-9]{5}\b-?| \(after [^)]*\)`)

// plain is an error's text without that.
func plain(err error) string { return random.ReplaceAllString(err.Error(), "") }
