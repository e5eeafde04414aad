package judge

// An attempt is one run of one check. It collects what the check finds, and what it must clean up.

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"example.com/operators/scripts/internal/lens"
)

type attempt struct {
	ctx      context.Context
	result   Result
	cleanups []func()
	cause    string         // of the findings that come now: see Finding
	page     *lens.Observer // nil: nothing is recorded
}

// ended is the panic that ends an attempt with a verdict.
type ended struct{}

func (t *attempt) end(verdict Verdict, why string) {
	t.result.Verdict, t.result.Why = verdict, why
	panic(ended{})
}

// must ends the attempt if there is an error, because the judge itself can't go on.
func (t *attempt) must(err error) {
	switch {
	case err == nil:
	case errors.Is(t.ctx.Err(), context.Canceled):
		t.end(Unjudged, "the judge was interrupted")
	default:
		t.end(Failed, err.Error())
	}
}

// skip ends the attempt because the check doesn't apply to this operator.
func (t *attempt) skip(format string, args ...any) { t.end(Skipped, fmt.Sprintf(format, args...)) }

// unable ends the attempt because the operator doesn't do what the check builds on.
func (t *attempt) unable(format string, args ...any) { t.end(Unjudged, fmt.Sprintf(format, args...)) }

// cleanup calls do when the check has ended, the last one first.
func (t *attempt) cleanup(do func()) { t.cleanups = append(t.cleanups, do) }

// found records a finding. Each needs evidence.
func (t *attempt) found(severity Severity, evidence []Evidence, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	t.result.Findings = append(t.result.Findings, Finding{severity, t.cause, what, nil, evidence, false})
}

// foundAlso is found for one of several things that are wrong in the same way: see together.
func (t *attempt) foundAlso(severity Severity, evidence []Evidence, what, where string) {
	t.result.Findings = append(t.result.Findings, Finding{severity, t.cause, what, []string{where}, evidence, false})
}

// measure records something without a verdict.
func (t *attempt) measure(format string, args ...any) {
	t.result.Measures = append(t.result.Measures, fmt.Sprintf(format, args...))
}

// step notes what the judge does now.
func (t *attempt) step(format string, args ...any) {
	t.page.Wrote(time.Now(), fmt.Sprintf(format, args...), "", "", "", "")
}

// try runs do, and then what there is to clean up.
func (t *attempt) try(do func()) Result {
	t.result.Began = time.Now()
	t.protect(do)
	t.result.Ended = time.Now()
	for _, do := range slices.Backward(t.cleanups) {
		t.protect(do)
	}
	switch {
	case t.result.Verdict == Failed:
	case len(t.result.Findings) > 0:
		t.result.Verdict = Found
	case t.result.Verdict == "":
		t.result.Verdict = Passed
	}
	return t.result
}

// protect runs do until it returns or panics.
func (t *attempt) protect(do func()) {
	defer func() {
		switch panicked := recover().(type) {
		case nil, ended:
		default:
			t.result.Verdict = Failed
			t.result.Why = fmt.Sprintf("the judge panicked: %v\n%s", panicked, debug.Stack())
		}
	}()
	do()
}
