package cluster

// Noticing early that a start can't succeed.

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	gopsutil "github.com/shirou/gopsutil/v4/process"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/problem"
)

// endedError says that a component ended which should run.
type endedError struct {
	problem.Problem
	component string
}

func (e *endedError) Unwrap() error { return &e.Problem }

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

// findEnded looks for a component whose pid file was written and whose process is gone.
func (c *Cluster) findEnded(ctx context.Context) error {
	files, _ := filepath.Glob(filepath.Join(c.kwok(), "pids", "*.pid"))
	executables := executables(c.bin)
	for _, file := range files {
		data, _ := os.ReadFile(file)
		pid, err := strconv.ParseInt(string(data), 10, 32)
		if err != nil {
			continue // being written
		}
		if p, runs := identify(ctx, &gopsutil.Process{Pid: int32(pid)}, executables); runs && p.home == c.kwok() || ctx.Err() != nil {
			continue
		}
		component := strings.TrimSuffix(filepath.Base(file), ".pid")
		said := lastComplaint(c.ComponentLog(component))
		ended := &endedError{component: component, Problem: problem.Problem{
			What: fmt.Sprintf("%s of cluster %q ended while the cluster started", component, c.name),
			Mend: "look at the log; \"./scripts/workshop up\" tries again, \"./scripts/workshop down --purge\" starts afresh",
			Log:  c.ComponentLog(component),
			Err:  fmt.Errorf("it said: %s", said),
		}}
		if what, mend, known := problem.CauseOnMachine(said); known {
			ended.What, ended.Mend = ended.What+", since "+what, mend
		}
		return ended
	}
	return nil
}

// complaint is how the components mark what kills them: klog's letters, or etcd's JSON.
var complaint = regexp.MustCompile(`^[EF]\d{4} |^Error: |^panic: |"level":"(error|fatal|panic)"`)

// lastComplaint is the last line of a log that looks like an error, or just the last line.
func lastComplaint(log string) string {
	data, err := os.ReadFile(log)
	if err != nil {
		return "nothing"
	}
	last := "nothing"
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	for i := len(lines) - 1; i >= 0; i-- {
		if complaint.MatchString(lines[i]) {
			last = lines[i]
			break
		}
	}
	if last == "nothing" {
		last = lines[len(lines)-1]
	}
	return last[:min(len(last), 400)]
}
