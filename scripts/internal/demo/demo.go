// Package demo is the guided tour of a chapter's program. It changes and breaks things as happens
// every day, and shows the objects and the program's requests after each step.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fatih/color"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
)

const (
	quiet      = 500 * time.Millisecond // without a request: then the program is idle
	mostRounds = 20                     // of that time, until it has to be idle
)

// Demo is a tour of one chapter on a cluster that is up.
type Demo struct {
	Root    string // of the repository
	Chapter chapters.Chapter
	Program program.Program // the chapter's
	Binary  string          // the built program
	Cluster cluster.Backend
	Kubectl cluster.Kubectl // for the cluster
	Out     io.Writer       // gets the narration

	tour
	createsCRD bool   // the CRD didn't exist before
	kubeconfig string // the program's
	client     kubernetes.Interface
	log        audit.Log
}

// Run gives the tour. It returns an error if a step doesn't have the expected result.
func (d *Demo) Run(ctx context.Context) (err error) {
	d.log = audit.Log{Path: d.Cluster.AuditLog()}
	d.tour = tours[d.Chapter.Kind()](d.Chapter.Parts().Sample)
	if d.Chapter.Solved {
		d.tour = solvedTour(d.Chapter.Parts().Sample)
	}
	config, err := cluster.RESTConfig(d.Cluster)
	if err != nil {
		return err
	}
	if d.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	err = program.CheckOthers(ctx, d.Cluster, d.Kubectl, d.Chapter.Kind(), d.namespace, os.Stderr)
	if err != nil {
		return err
	}
	d.heading("Chapter %s", d.Chapter.Name)
	if err := d.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cleanUp(context.WithoutCancel(ctx))) }()
	d.kubeconfig = filepath.Join(d.Root, ".workshop", "demo.kubeconfig")
	defer os.Remove(d.kubeconfig)
	err = operator.WriteKubeconfig(ctx, d.client, config, d.namespace, operator.ServiceAccount, d.kubeconfig)
	if err != nil {
		return err
	}
	if err := d.log.SkipToEnd(); err != nil {
		return err
	}
	steps := 0
	for _, act := range d.acts {
		if err := d.runAct(ctx, steps+1, act); err != nil {
			return err
		}
		steps += len(act.steps)
	}
	d.heading("All %d steps held.", steps)
	fmt.Fprintf(d.Out, "Now read %s.\n", d.relative(filepath.Join(d.Chapter.Dir, "README.md")))
	return nil
}

// runAct starts the program and runs the act's steps. The first step has that number.
func (d *Demo) runAct(ctx context.Context, first int, act act) error {
	stop, programLog, err := d.startProgram(ctx, act)
	if err != nil {
		return err
	}
	defer stop()
	for i, step := range act.steps {
		if err := d.runStep(ctx, first+i, step); err != nil {
			return problem.New("step %d (%s) didn't hold", first+i, step.title).
				ToDo("the program's log shows what it did").
				SeeLog(programLog).
				Because(err)
		}
	}
	return nil
}

// relative makes paths in a text relative to the repository's root.
func (d *Demo) relative(text string) string {
	return strings.ReplaceAll(text, d.Root+string(filepath.Separator), "")
}

// runStep does one step, waits for its result, and shows it.
func (d *Demo) runStep(ctx context.Context, number int, s step) error {
	d.heading("%d. %s", number, s.title)
	fmt.Fprintln(d.Out, s.question)
	if s.before != nil {
		if err := s.before(d); err != nil {
			return err
		}
	}
	if s.kubectl != nil {
		if err := d.show(ctx, s.kubectl...); err != nil {
			return err
		}
	}
	for _, condition := range s.waitFor {
		wait := append([]string{"--namespace", d.namespace, "wait", "--timeout", "60s"}, condition...)
		if _, err := d.Kubectl.Run(ctx, wait...); err != nil {
			return err
		}
	}
	if s.watch != nil {
		if err := s.watch(ctx, d); err != nil {
			return err
		}
	}
	requests, err := d.requests(ctx)
	if err != nil {
		return err
	}
	if err := d.show(ctx, "get", cmp.Or(s.shows, d.shows)); err != nil {
		return err
	}
	d.showRequests(requests)
	fmt.Fprintf(d.Out, "\n=> %s\n", s.answer)
	return nil
}

// show runs a kubectl command and shows it with its output, as in a terminal.
func (d *Demo) show(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.Out)
	color.New(color.FgCyan).Fprintf(d.Out, "  $ kubectl %s\n", d.relative(strings.Join(args, " ")))
	output, err := d.Kubectl.Run(ctx, append([]string{"--namespace", d.namespace}, args...)...)
	if err == nil && strings.TrimSpace(output) == "" {
		output = "No resources found."
	}
	for line := range strings.Lines(strings.TrimSpace(output)) {
		fmt.Fprintf(d.Out, "  %s\n", strings.TrimRight(line, "\n"))
	}
	return err
}

// requests waits until the program is idle, and returns its requests since the last step.
func (d *Demo) requests(ctx context.Context) ([]audit.Request, error) {
	var all []audit.Request
	for range mostRounds {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(quiet):
		}
		more, err := d.log.Requests(audit.ServiceAccount(d.namespace, operator.ServiceAccount))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return all, nil
		}
		all = append(all, more...)
	}
	return nil, fmt.Errorf("the program doesn't become idle: %d requests, the last one %s", len(all), all[len(all)-1])
}

// showRequests shows the writes, each with how often it was sent, and counts the reads.
func (d *Demo) showRequests(requests []audit.Request) {
	fmt.Fprintln(d.Out, "\n  The program's requests, from the API server's audit log:")
	times := map[string]int{} // of each write, and of each verb that reads
	var writes, counts []string
	for _, request := range requests {
		what := request.Verb
		if request.IsWrite() {
			what = request.String()
		}
		if times[what]++; times[what] == 1 && request.IsWrite() {
			writes = append(writes, what)
		}
	}
	for _, write := range writes {
		if times[write] > 1 {
			write += fmt.Sprintf("  (%d times)", times[write])
		}
		fmt.Fprintf(d.Out, "    %s\n", write)
	}
	for _, verb := range []string{"get", "list", "watch"} {
		if times[verb] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", times[verb], verb))
		}
	}
	if counts != nil {
		fmt.Fprintf(d.Out, "    and to read: %s\n", strings.Join(counts, ", "))
	}
}

func (d *Demo) heading(format string, args ...any) {
	fmt.Fprintln(d.Out)
	color.New(color.Bold).Fprintf(d.Out, format+"\n", args...)
}
