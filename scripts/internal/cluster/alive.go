package cluster

// Noticing early that a start can't succeed.

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/problem"
)

// endedError says that a component ended which should run.
type endedError struct {
	*problem.Problem
	component string
}

func (e *endedError) Unwrap() error { return e.Problem }

// whileAlive does work, and breaks it off when a component that was started has ended: nothing would come of waiting.
func (c *Cluster) whileAlive(ctx context.Context, work func(context.Context) error) error {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go func() {
		_ = wait.PollUntilContextCancel(working, 4*pollEvery, false, func(ctx context.Context) (bool, error) {
			if ended := c.findEnded(ctx); ended != nil {
				stop(ended)
			}
			return false, nil
		})
	}()
	err := work(working)
	if cause := context.Cause(working); err != nil && cause != nil {
		return cause
	}
	return err
}

// findEnded looks for a component that has started (it has a pid file) and exited since.
func (c *Cluster) findEnded(ctx context.Context) error {
	files, _ := filepath.Glob(filepath.Join(c.kwok(), "pids", "*.pid"))
	running, err := c.running(ctx)
	if err != nil || ctx.Err() != nil {
		return nil
	}
	for _, file := range files {
		component := strings.TrimSuffix(filepath.Base(file), ".pid")
		if _, runs := running[component]; runs {
			continue
		}
		said := lastComplaint(c.ComponentLog(component))
		p := problem.New("%s of cluster %q ended while the cluster started", component, c.name).
			ToDo(`look at the log; "./scripts/workshop up" tries again, "./scripts/workshop down --purge" starts over`).
			SeeLog(c.ComponentLog(component)).
			Because(fmt.Errorf("it said: %s", said))
		p.Explain(problem.OnMachine(), said)
		return &endedError{p, component}
	}
	return nil
}

// complaint is how the components mark what kills them: klog's letters, or etcd's JSON.
var complaint = regexp.MustCompile(`^[EF]\d{4} |^Error: |^panic: |"level":"(error|fatal|panic)"`)

// lastComplaint is the last line of a log that looks like an error, or just the last line.
func lastComplaint(log string) string {
	data, _ := os.ReadFile(log)
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	last := cmp.Or(lines[len(lines)-1], "nothing")
	for _, line := range slices.Backward(lines) {
		if complaint.MatchString(line) {
			last = line
			break
		}
	}
	return last[:min(len(last), 400)]
}
