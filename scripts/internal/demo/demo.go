// Package demo is the guided tour of a chapter's program. It changes and breaks things as happens
// every day, and shows the objects and the program's requests after each step.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

const (
	quiet      = 500 * time.Millisecond // without a request: then the program is idle
	mostRounds = 20                     // of that time, until it has to be idle
)

// Demo is a tour of one chapter on a cluster that is up.
type Demo struct {
	Root    string // of the repository
	Chapter chapters.Chapter
	Cluster cluster.Backend
	// Build builds the chapter's program, and returns its path.
	Build func(context.Context, program.Program) (binary string, err error)
	Out   io.Writer // gets the narration

	tour
	program    program.Program
	binary     string
	kubectl    cluster.Kubectl
	kubeconfig string // the program's
	client     kubernetes.Interface
	dynamic    dynamic.Interface
	log        audit.Log
	dayBegan   time.Time // the fast day, three hours before midnight
}

// Run gives the tour. It returns an error if a step doesn't have the expected result.
func (d *Demo) Run(ctx context.Context) (err error) {
	d.log = audit.Log{Path: d.Cluster.AuditLog()}
	d.kubectl = cluster.KubectlFor(d.Root, d.Cluster)
	if d.program, err = program.OfChapter(d.Chapter); err != nil {
		return err
	}
	if d.binary, err = d.Build(ctx, d.program); err != nil {
		return err
	}
	if d.tour, err = tourOf(d.Chapter, d.Root); err != nil {
		return err
	}
	config, err := cluster.RESTConfig(d.Cluster)
	if err != nil {
		return err
	}
	if d.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if d.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	err = program.CheckOthers(ctx, d.Cluster, d.kubectl, d.Chapter.Kind(), namespace, os.Stderr)
	if err != nil {
		return err
	}
	d.heading("Chapter %s", d.Chapter.Name)
	defer func() { err = errors.Join(err, d.cleanUp(context.WithoutCancel(ctx))) }()
	if err := d.prepare(ctx); err != nil {
		return err
	}
	d.kubeconfig = filepath.Join(d.Root, ".workshop", "demo.kubeconfig")
	defer os.Remove(d.kubeconfig)
	err = operator.WriteKubeconfig(ctx, d.client, config, namespace, operator.ServiceAccount, d.kubeconfig)
	if err != nil {
		return err
	}
	if err := d.log.SkipToEnd(); err != nil {
		return err
	}
	steps := 0
	for _, part := range d.parts {
		if err := d.runPart(ctx, steps+1, part); err != nil {
			return err
		}
		steps += len(part)
	}
	d.heading("All %d steps held.", steps)
	fmt.Fprintf(d.Out, "Next, run the program yourself: ./scripts/workshop run %s\nThen read %s.\n",
		d.Chapter.Number(), ui.Relative(d.Root, filepath.Join(d.Chapter.Dir, "README.md")))
	return nil
}

// runPart starts the program and runs the steps. The first one has that number.
func (d *Demo) runPart(ctx context.Context, first int, steps []step) error {
	running, log, err := d.startProgram()
	if err != nil {
		return err
	}
	defer running.Stop()
	for i, step := range steps {
		err := d.runStep(ctx, first+i, step)
		if exits := running.Exits(); err == nil && len(exits) > 0 {
			err = fmt.Errorf("the program has exited: %w", exits[0].Why)
		}
		if err != nil {
			return problem.New("step %d (%s) didn't hold", first+i, step.title).
				ToDo("the program's log shows what it did").
				SeeLog(log).
				Because(err)
		}
	}
	return nil
}

// runStep does one step, waits for its result, and shows it.
func (d *Demo) runStep(ctx context.Context, number int, s step) error {
	d.heading("%d. %s", number, s.title)
	fmt.Fprintln(d.Out, ui.Wrap(s.question))
	if s.before != nil {
		if err := s.before(d); err != nil {
			return err
		}
	}
	since := ""
	if s.follows != "" {
		found, err := d.client.AppsV1().Deployments(namespace).Get(ctx, s.follows, metav1.GetOptions{})
		if err != nil {
			return err
		}
		since = found.ResourceVersion
	}
	if err := d.show(ctx, s.kubectl...); err != nil {
		return err
	}
	if s.follows != "" {
		if err := d.untilReverted(ctx, s.follows, since); err != nil {
			return err
		}
	}
	for _, condition := range s.waitFor {
		wait := append([]string{"--namespace", namespace, "wait", "--timeout", "60s"}, condition...)
		if _, err := d.kubectl.Run(ctx, wait...); err != nil {
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
	fmt.Fprintln(d.Out, "\n"+ui.Item("=> ", s.answer))
	return nil
}

// untilReverted prints the changes of a Deployment's replicas since a version, until the second one.
func (d *Demo) untilReverted(ctx context.Context, deployment, since string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	label := func(time.Time) string { return "a watch of the Deployment shows" }
	changes, err := d.follow(ctx, deployment, since, label, func(changes []int32) bool { return len(changes) == 2 })
	if err == nil && len(changes) < 2 {
		err = fmt.Errorf("spec.replicas of Deployment %s is still %d", deployment, changes)
	}
	return err
}

// follow prints a Deployment's desired replicas and each change, until they are enough or ctx ends. It
// begins after a version, or with the present one if that is "".
func (d *Demo) follow(ctx context.Context, deployment, since string, label func(time.Time) string,
	enough func([]int32) bool) (replicas []int32, err error) {
	watch, err := d.client.AppsV1().Deployments(namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: "metadata.name=" + deployment, ResourceVersion: since,
	})
	if err != nil {
		return nil, err
	}
	defer watch.Stop()
	fmt.Fprintln(d.Out)
	for event := range watch.ResultChan() {
		found, ok := event.Object.(*appsv1.Deployment)
		if !ok {
			continue
		}
		now := ptr.Deref(found.Spec.Replicas, 1)
		if len(replicas) > 0 && replicas[len(replicas)-1] == now {
			continue
		}
		replicas = append(replicas, now)
		fmt.Fprintf(d.Out, "  %s  %d replicas\n", label(time.Now()), now)
		if enough(replicas) {
			break
		}
	}
	return replicas, nil
}

// show runs a kubectl command and shows it with its output, as in a terminal.
func (d *Demo) show(ctx context.Context, args ...string) error {
	fmt.Fprintln(d.Out)
	color.New(color.FgCyan).Fprintf(d.Out, "  $ kubectl %s\n", ui.Relative(d.Root, strings.Join(args, " ")))
	output, err := d.kubectl.Run(ctx, append([]string{"--namespace", namespace}, args...)...)
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
		more, err := d.log.Requests(audit.ServiceAccount(namespace, operator.ServiceAccount))
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
	conflict := slices.ContainsFunc(requests, func(r audit.Request) bool { return r.Code == http.StatusConflict })
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
	if conflict {
		fmt.Fprintln(d.Out, ui.Item("  ", "409 is a conflict: somebody else, such as Kubernetes' own controllers, "+
			"had changed the object since the program read it. So the API server refused the write, and the "+
			"program looked again."))
	}
}

func (d *Demo) heading(format string, args ...any) {
	fmt.Fprintln(d.Out)
	color.New(color.Bold).Fprintf(d.Out, format+"\n", args...)
}
