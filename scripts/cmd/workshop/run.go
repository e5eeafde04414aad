package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/webhooks"
)

func newRunCommand() *cobra.Command {
	var tdset bool
	command := &cobra.Command{
		Use:   "run CHAPTER [-- FLAG...]",
		Short: "Run a chapter's program until you press Ctrl-C",
		Long: `Run brings the cluster up, applies the chapter's CRD, permissions and example Foo, and runs its program with no more
permissions than its manifests grant. Flags after -- are the program's.

The webhooks of a chapter that has some are called too, for as long as the program runs.

With --tdset it runs the solution of the chapter's last exercise in the same way: TDSet, a Deployment that is scaled by the
time of day. Its flag --now sets its clock.`,
		Example: `  ./scripts/workshop run 01
  ./scripts/workshop run 01 -- --trace
  ./scripts/workshop run 01 --tdset -- --now 2026-01-01T08:59:50Z`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return fmt.Errorf("one chapter, please; the program's own flags come after --")
			}
			chapter, err := oneChapter(args[:1])
			if err != nil {
				return err
			}
			p, err := program.OfChapter(chapter)
			if tdset {
				var found bool
				if p, found, err = program.OfTDSet(chapter); !found {
					return errors.Join(err, noTDSet(chapter))
				}
			}
			if err != nil {
				return err
			}
			return runProgram(command.Context(), p, args[1:])
		},
	}
	command.Flags().BoolVar(&tdset, "tdset", false, "run the solution of the chapter's last exercise, TDSet")
	return command
}

// noTDSet says that a chapter has no exercise TDSet, and which chapters have.
func noTDSet(chapter chapters.Chapter) error {
	all, err := chapters.All(theRoot())
	if err != nil {
		return err
	}
	var others []string
	for _, other := range all {
		if _, found, _ := program.OfTDSet(other); found {
			others = append(others, other.Number())
		}
	}
	return problem.New("chapter %s has no exercise TDSet", chapter.Name).
		ToDo("take one that has: %s", strings.Join(others, ", "))
}

func runProgram(ctx context.Context, p program.Program, flags []string) error {
	ready, err := prepare(ctx, p)
	if err != nil {
		return err
	}
	defer os.RemoveAll(ready.dir)

	fmt.Fprintf(os.Stderr, "Running %s on cluster %q as %s/%s. Ctrl-C ends it.\n", p.Name, ready.cluster.Name(), p.Namespace, p.ServiceAccount)
	flags = append([]string{"--kubeconfig", ready.kubeconfig}, flags...)
	switch {
	case p.Webhooks == "":
	case ready.cluster.Nodes() == cluster.Containers:
		fmt.Fprintf(os.Stderr, "It runs without its webhooks: an API server in a container can't call this machine's loopback. "+
			"In the cluster it has them: ./scripts/workshop deploy %.2s\n", p.Name)
	default:
		local, stop, err := serveWebhooks(ctx, p, ready)
		if err != nil {
			return err
		}
		defer stop()
		flags = slices.Concat(local, flags)
	}
	running := process.NewCommand(ctx, 40*time.Second, ready.binary, flags...)
	running.Stdout, running.Stderr = os.Stdout, os.Stderr
	err = running.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil // Ctrl-C is how this ends
	case errors.As(err, &exit):
		return fmt.Errorf("%s ended: %w", p.Name, err)
	}
	return err
}

// serveWebhooks returns the flags that the program needs to serve its webhooks, and has the cluster
// call them once it does. stop undoes that.
func serveWebhooks(ctx context.Context, p program.Program, ready *prepared) (flags []string, stop func(), err error) {
	manifests, err := os.ReadFile(p.Webhooks)
	if err != nil {
		return nil, nil, err
	}
	local, err := webhooks.New(ready.dir)
	if err != nil {
		return nil, nil, err
	}
	configurations, err := local.Configurations(manifests, "")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if local.Await(ctx) != nil {
			return // the program has ended before it answered
		}
		if err := ready.kubectl.Apply(ctx, configurations); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks aren't called:", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
		if err := webhooks.Delete(context.WithoutCancel(ctx), ready.kubectl); err != nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks are still called, though nobody answers: the next run takes them away:", err)
		}
	}
	return local.Flags(), stop, nil
}
