package judge

// An attempt is one run of one check. It collects what the check finds, and what it must clean up.

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"time"
)

type attempt struct {
	ctx    context.Context
	result Result
	clean  []func()
}

func (t *attempt) Context() context.Context { return t.ctx }

// ended is the panic that ends an attempt with a verdict.
type ended struct{}

// Fatalf ends the attempt without a verdict.
func (t *attempt) Fatalf(format string, args ...any) { t.end(Failed, fmt.Sprintf(format, args...)) }

// skip ends the attempt because the check doesn't apply to this operator.
func (t *attempt) skip(format string, args ...any) { t.end(Skipped, fmt.Sprintf(format, args...)) }

// unable ends the attempt because the operator doesn't do what the check builds on.
func (t *attempt) unable(format string, args ...any) { t.end(Unjudged, fmt.Sprintf(format, args...)) }

func (t *attempt) end(verdict Verdict, why string) {
	t.result.Verdict, t.result.Why = verdict, why
	panic(ended{})
}

func (t *attempt) Cleanup(do func()) { t.clean = append(t.clean, do) }

func (t *attempt) TempDir() string {
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// found records a finding. Each needs evidence.
func (t *attempt) found(severity Severity, evidence []Evidence, format string, args ...any) {
	what := fmt.Sprintf(format, args...)
	t.result.Findings = append(t.result.Findings, Finding{Severity: severity, What: what, Evidence: evidence})
}

// measure records something without a verdict.
func (t *attempt) measure(format string, args ...any) {
	t.result.Measures = append(t.result.Measures, fmt.Sprintf(format, args...))
}

// step notes what the judge does now.
func (t *attempt) step(format string, args ...any) {
	t.result.Steps = append(t.result.Steps, noted(format, args...))
}

// try runs do, and then what there is to clean up.
func (t *attempt) try(do func()) Result {
	t.result.Began = time.Now()
	t.protect(do)
	t.result.Ended = time.Now()
	for len(t.clean) > 0 {
		last := len(t.clean) - 1
		next := t.clean[last]
		t.clean = t.clean[:last]
		t.protect(next)
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
