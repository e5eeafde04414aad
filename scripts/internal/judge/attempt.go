package judge

// An attempt is one run of one check. It collects what the check finds, and what it must clean up.

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

type attempt struct {
	ctx    context.Context
	mutex  sync.Mutex
	result Result
	clean  []func()
}

func (t *attempt) Context() context.Context { return t.ctx }

// Fatalf ends the attempt without a verdict.
func (t *attempt) Fatalf(format string, args ...any) { t.end(Failed, fmt.Sprintf(format, args...)) }

// skip ends the attempt because the check doesn't apply to this operator.
func (t *attempt) skip(format string, args ...any) { t.end(Skipped, fmt.Sprintf(format, args...)) }

// unable ends the attempt because the operator doesn't do what the check builds on.
func (t *attempt) unable(format string, args ...any) { t.end(Unjudged, fmt.Sprintf(format, args...)) }

func (t *attempt) end(verdict Verdict, why string) {
	t.mutex.Lock()
	t.result.Verdict, t.result.Why = verdict, why
	t.mutex.Unlock()
	runtime.Goexit()
}

func (t *attempt) Cleanup(do func()) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.clean = append(t.clean, do)
}

func (t *attempt) TempDir() string {
	dir, err := os.MkdirTemp("", "judge-")
	if err != nil {
		t.Fatalf("%v", err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// find records a finding. Each needs evidence.
func (t *attempt) find(severity Severity, evidence []Evidence, format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.result.Findings = append(t.result.Findings, Finding{Severity: severity, What: fmt.Sprintf(format, args...), Evidence: evidence})
}

func (t *attempt) measure(name string, value float64, unit string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.result.Measures = append(t.result.Measures, Measure{name, value, unit})
}

// step notes what the judge does now.
func (t *attempt) step(format string, args ...any) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.result.Steps = append(t.result.Steps, Step{time.Now(), fmt.Sprintf(format, args...)})
}

// try runs do, and then what there is to clean up. do runs in a goroutine of its own, because
// Fatalf ends it.
func (t *attempt) try(do func()) Result {
	t.result.Began = time.Now()
	t.alone(do)
	t.result.Ended = time.Now()
	for len(t.clean) > 0 {
		last := len(t.clean) - 1
		next := t.clean[last]
		t.clean = t.clean[:last]
		t.alone(next)
	}
	slices.SortStableFunc(t.result.Requests, func(a, b Request) int { return a.At.Compare(b.At) })
	switch {
	case t.result.Verdict == Failed:
	case len(t.result.Findings) > 0:
		t.result.Verdict = Found
	case t.result.Verdict == "":
		t.result.Verdict = Passed
	}
	return t.result
}

func (t *attempt) alone(do func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if panicked := recover(); panicked != nil {
				t.result.Verdict, t.result.Why = Failed, fmt.Sprintf("the judge panicked: %v\n%s", panicked, debug.Stack())
			}
		}()
		do()
	}()
	<-done
}
