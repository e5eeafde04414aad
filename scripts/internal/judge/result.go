package judge

// What the judge finds out: results, findings and their evidence.

import (
	"fmt"
	"time"

	"example.com/operators/scripts/internal/audit"
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

// Result is what one check has found out.
type Result struct {
	Check    string    `json:"check"`
	Promise  string    `json:"promise"`
	Verdict  Verdict   `json:"verdict"`
	Why      string    `json:"why,omitempty"`
	Findings []Finding `json:"findings,omitempty"`
	Measures []Measure `json:"measures,omitempty"`
	Began    time.Time `json:"began"`
	Ended    time.Time `json:"ended"`
	// Requests are all that the operator has sent meanwhile, and Steps what the judge did.
	Requests []Request `json:"requests,omitempty"`
	Steps    []Step    `json:"steps,omitempty"`
	// Log is the end of the operator's log, if there are findings.
	Log string `json:"log,omitempty"`
}

// Finding is one thing that is wrong. What has no random names, so that the same finding has the
// same text in the next run, except for what has been measured.
type Finding struct {
	Severity Severity   `json:"severity"`
	What     string     `json:"what"`
	Evidence []Evidence `json:"evidence"`
	// Known says that the baseline has it too.
	Known bool `json:"known,omitempty"`
}

// Evidence is something that has been seen: a request, a version of an object, a line of the log.
type Evidence struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// Detail is a diff or a body, and may be "".
	Detail string `json:"detail,omitempty"`
}

// Measure is a number without a verdict.
type Measure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}

// Request is one of the operator's requests, for the timeline.
type Request struct {
	At   time.Time `json:"at"`
	Verb string    `json:"verb"`
	// Resource has its group, as in deployments.apps, and is "" for discovery.
	Resource string `json:"resource,omitempty"`
	URI      string `json:"uri"`
	Code     int32  `json:"code"`
}

// Step is something that the judge did, for the timeline.
type Step struct {
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// mostSeen is how many requests a finding shows.
const mostSeen = 10

// seen returns requests as evidence. It returns the first few, and says how many more there are.
func seen(requests []audit.Request) (evidence []Evidence) {
	for i, request := range requests {
		if i == mostSeen {
			return append(evidence, Evidence{At: request.Answered, Text: fmt.Sprintf("… and %d more", len(requests)-mostSeen)})
		}
		evidence = append(evidence, Evidence{At: request.Answered, Text: request.String(), Detail: audit.Readable(request.Body)})
	}
	return evidence
}
