// Package demo is the narrated tour of a chapter's program: it starts the program on a cluster, does to it what users and
// accidents do, and after each step shows the objects and the requests that the program made. Every step has to hold.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/fatih/color"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/audit"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
)

const (
	namespace  = "demo"
	quiet      = 500 * time.Millisecond // the program is taken to be done when it has sent nothing for so long
	mostRounds = 20                     // so often it may not be
	cleanup    = 30 * time.Second       // bounds what is left to do after the tour
)

// step is one thing that happens to the program.
type step struct {
	title string
	// what is said before and after.
	question, answer string
	// does are kubectl's arguments, as a reader would type them; then the step waits for what holds says, in kubectl's
	// words too, and shows the objects.
	does  [][]string
	holds [][]string
	shows []string
}

// tour is what happens to a Foo.
func tour(sample string) []step {
	show := []string{"get", "foos,deployments,pods"}
	wait := func(args ...string) []string { return append([]string{"wait", "--timeout", "60s"}, args...) }
	return []step{
		{
			title:    "Create a Foo",
			question: "A Foo asks for a Deployment. Nobody but our program knows that.",
			does:     [][]string{{"apply", "-f", sample}},
			holds:    [][]string{wait("--for", "condition=Ready", "foo/example-foo")},
			shows:    show,
			answer:   "The program made the Deployment; the Pod is the work of Kubernetes' own controllers.",
		},
		{
			title:    "Scale it",
			question: "The wish changes. Who tells the Deployment?",
			does:     [][]string{{"scale", "foo/example-foo", "--replicas", "3"}},
			holds:    [][]string{wait("--for", "jsonpath={.status.availableReplicas}=3", "foo/example-foo")},
			shows:    show,
			answer:   "The program saw the change of the Foo, changed the Deployment, and reported back in the Foo's status.",
		},
		{
			title:    "Interfere: scale the Deployment by hand",
			question: "The Foo still asks for 3.",
			does:     [][]string{{"scale", "deployment/example-foo", "--replicas", "5"}},
			holds: [][]string{
				wait("--for", "jsonpath={.spec.replicas}=3", "deployment/example-foo"),
				wait("--for", "jsonpath={.status.replicas}=3", "deployment/example-foo"),
			},
			shows:  show,
			answer: "Drift is repaired: what counts is the wish, not who wrote last.",
		},
		{
			title:    "Interfere: delete the Deployment",
			question: "The Foo is still there.",
			does:     [][]string{{"delete", "deployment/example-foo"}},
			holds: [][]string{
				wait("--for", "create", "deployment/example-foo"),
				wait("--for", "condition=Available", "deployment/example-foo"),
				wait("--for", "condition=Ready", "foo/example-foo"),
			},
			shows:  show,
			answer: "It was made again.",
		},
		{
			title:    "Delete the Foo",
			question: "Who deletes the Deployment?",
			does:     [][]string{{"delete", "foo/example-foo"}},
			holds: [][]string{
				wait("--for", "delete", "deployment/example-foo"),
				wait("--for", "delete", "pod", "--all"),
			},
			shows:  show,
			answer: "Not the program: the Deployment names the Foo as its owner, and the garbage collector did the rest.",
		},
	}
}

// Demo is a tour of one chapter on a cluster that is up.
type Demo struct {
	Root    string // of the repository
	Bin     string // where kubectl is
	Chapter chapters.Chapter
	Cluster *cluster.Cluster
	Out     io.Writer // gets the narration

	program program.Program
	kubectl kubectl.Kubectl
	client  kubernetes.Interface
	log     audit.Log
}

// Run gives the tour. It returns an error if any step didn't hold.
func (d *Demo) Run(ctx context.Context) (err error) {
	d.kubectl = kubectl.Kubectl{Binary: filepath.Join(d.Bin, "kubectl"), Kubeconfig: d.Cluster.Kubeconfig()}
	d.log = audit.Log{Path: d.Cluster.AuditLog()}
	config, err := d.Cluster.RESTConfig()
	if err != nil {
		return err
	}
	if d.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}

	if d.program, err = program.OfChapter(d.Chapter); err != nil {
		return err
	}

	d.heading("Chapter %s", d.Chapter.Name)
	if err := d.prepare(ctx); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.cleanUp(context.WithoutCancel(ctx))) }()

	if err := d.log.SkipToEnd(); err != nil {
		return err
	}
	stop, programLog, err := d.startProgram(ctx)
	if err != nil {
		return err
	}
	defer stop()
	steps := tour(d.relative(d.Chapter.Parts().Sample))
	for i, step := range steps {
		if err := d.give(ctx, i+1, step); err != nil {
			return &problem.Problem{
				What: fmt.Sprintf("step %d (%s) didn't hold", i+1, step.title),
				Mend: "the program's log says what it did",
				Log:  programLog,
				Err:  err,
			}
		}
	}
	d.heading("All %d steps held.", len(steps))
	fmt.Fprintf(d.Out, "Now read %s/README.md.\n", d.Chapter.Name)
	return nil
}

// prepare makes the namespace, empty, and applies the chapter's CRD and permissions.
func (d *Demo) prepare(ctx context.Context) error {
	parts := d.Chapter.Parts()
	fmt.Fprintf(d.Out, "Applying %s, and the permissions in %s\n", d.relative(parts.CRD), d.relative(parts.Permissions))
	if err := d.program.Apply(ctx, d.kubectl); err != nil {
		return err
	}
	// An interrupted tour may have left something.
	if _, err := d.kubectl.Run(ctx, "delete", "namespace", namespace, "--ignore-not-found", "--timeout", "60s"); err != nil {
		return err
	}
	if _, err := d.kubectl.Run(ctx, "create", "namespace", namespace); err != nil {
		return err
	}
	return d.program.Grant(ctx, d.client, namespace)
}

// relative is a file's path as a reader in the repository's root would type it.
func (d *Demo) relative(path string) string {
	if short, err := filepath.Rel(d.Root, path); err == nil {
		return short
	}
	return path
}

func (d *Demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanup)
	defer cancel()
	_, err := d.kubectl.Run(ctx, "delete", "namespace", namespace, "--ignore-not-found", "--wait=false")
	return errors.Join(program.Revoke(ctx, d.client, namespace), err)
}

// startProgram builds and starts the chapter's program, on this namespace alone. stop ends it.
func (d *Demo) startProgram(ctx context.Context) (stop func(), logFile string, err error) {
	state := filepath.Join(d.Root, ".workshop")
	binary, err := d.program.Build(ctx, filepath.Join(state, "bin"))
	if err != nil {
		return nil, "", err
	}
	kubeconfig := filepath.Join(state, "demo.kubeconfig")
	config, err := d.Cluster.RESTConfig()
	if err != nil {
		return nil, "", err
	}
	if err := program.WriteKubeconfig(ctx, d.client, config, namespace, kubeconfig); err != nil {
		return nil, "", err
	}
	logFile = filepath.Join(state, "logs", "demo-"+d.Chapter.Name+".log")
	if err := os.MkdirAll(filepath.Dir(logFile), 0o700); err != nil {
		return nil, "", err
	}
	log, err := os.Create(logFile)
	if err != nil {
		return nil, "", err
	}

	fmt.Fprintf(d.Out, "Starting the program: %s --namespace %s\n", d.Chapter.Name, namespace)
	command := exec.Command(binary, "--kubeconfig", kubeconfig, "--namespace", namespace, "-v", "2")
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // Ctrl-C is for us: we end it
	if err := command.Start(); err != nil {
		return nil, "", errors.Join(err, log.Close())
	}
	return func() {
		command.Process.Signal(syscall.SIGTERM)
		command.Wait()
		log.Close()
		os.Remove(kubeconfig)
	}, logFile, nil
}

// give does one step, waits until it holds, and shows what came of it.
func (d *Demo) give(ctx context.Context, number int, s step) error {
	d.heading("%d. %s", number, s.title)
	fmt.Fprintln(d.Out, s.question)
	for _, args := range s.does {
		if err := d.show(ctx, args); err != nil {
			return err
		}
	}
	for _, args := range s.holds {
		if _, err := d.kubectl.Run(ctx, append([]string{"--namespace", namespace}, args...)...); err != nil {
			return err
		}
	}
	requests, err := d.requests(ctx)
	if err != nil {
		return err
	}
	if err := d.show(ctx, s.shows); err != nil {
		return err
	}
	d.showRequests(requests)
	fmt.Fprintf(d.Out, "\n=> %s\n", s.answer)
	return nil
}

// show runs a kubectl command and shows it with its output, as in a terminal.
func (d *Demo) show(ctx context.Context, args []string) error {
	fmt.Fprintln(d.Out)
	color.New(color.FgCyan).Fprintf(d.Out, "  $ kubectl %s\n", strings.Join(args, " "))
	args = append([]string{"--namespace", namespace}, args...)
	for i, arg := range args {
		if strings.HasPrefix(arg, d.Chapter.Name) {
			args[i] = filepath.Join(d.Root, arg)
		}
	}
	output, err := d.kubectl.Run(ctx, args...)
	if err == nil && strings.TrimSpace(output) == "" {
		output = "No resources found."
	}
	for line := range strings.Lines(strings.TrimSpace(output)) {
		fmt.Fprintf(d.Out, "  %s\n", strings.TrimRight(line, "\n"))
	}
	return err
}

// requests returns what the program has sent since the last step, once it has gone quiet.
func (d *Demo) requests(ctx context.Context) ([]audit.Request, error) {
	var all []audit.Request
	for range mostRounds {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(quiet):
		}
		more, err := d.log.Requests(audit.ServiceAccount(namespace, program.ServiceAccount))
		if err != nil {
			return nil, err
		}
		if len(more) == 0 {
			return all, nil
		}
		all = append(all, more...)
	}
	return nil, fmt.Errorf("the program doesn't come to rest: %d requests, the last one %s", len(all), all[len(all)-1])
}

// showRequests shows each write, and counts the reads.
func (d *Demo) showRequests(requests []audit.Request) {
	fmt.Fprintln(d.Out, "\n  The program's requests, from the API server's audit log:")
	reads := map[string]int{}
	for _, request := range requests {
		if request.IsWrite() {
			fmt.Fprintf(d.Out, "    %s\n", request)
		} else {
			reads[request.Verb]++
		}
	}
	var counts []string
	for _, verb := range []string{"get", "list", "watch"} {
		if reads[verb] > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", reads[verb], verb))
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
