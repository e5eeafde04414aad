package main

// workshop run and demo start a chapter's program, for you or for a guided tour.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/demo"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
)

func newRunCommand() *cobra.Command {
	var tdset bool
	var store string
	command := &cobra.Command{
		Use:   "run CHAPTER[/K] [-- FLAG...]",
		Short: "Run a chapter's program until you press Ctrl-C",
		Long: `Run brings the cluster up, applies the chapter's CRD, permissions and example Foo, and runs its program with only the
permissions that its manifests grant. Flags after -- are the program's.

If the chapter has webhooks, the API server calls them while the program runs.

With --tdset it runs the solution of the chapter's last exercise instead: TDSet, a Deployment that is scaled by the time of
day. Its flag --now sets its clock.

A ticket (an exercise that begins with a symptom) has a program of its own, as in "run 03/7". In a capstone, it runs the
program that you wrote, as in "run 03/9".

With --store it has the API server store objects in another version of the API than the chapter's CRD does.`,
		Example: `  ./scripts/workshop run 01
  ./scripts/workshop run 01 -- --trace
  ./scripts/workshop run 01 --tdset -- --now 2026-01-01T08:59:50Z
  ./scripts/workshop run 03/7
  ./scripts/workshop run 07 --store v1`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
				return fmt.Errorf("name one chapter; the program's own flags come after --")
			}
			_, p, err := theProgram(args[0], tdset)
			if err != nil {
				return err
			}
			if store != "" {
				dir, err := os.MkdirTemp("", "workshop-crd-")
				if err != nil {
					return err
				}
				defer os.RemoveAll(dir)
				if p, err = p.Storing(store, dir); err != nil {
					return fmt.Errorf("--store: %w", err)
				}
			}
			return runProgram(command.Context(), p, args[1:])
		},
	}
	addTDSetFlag(command, &tdset)
	command.Flags().StringVar(&store, "store", "", "the version of the API in which objects are stored (default: the one in the CRD)")
	return command
}

func runProgram(ctx context.Context, p program.Program, flags []string) error {
	ready, err := prepare(ctx, p)
	if err != nil {
		return err
	}
	defer os.RemoveAll(ready.dir)

	fmt.Fprintf(os.Stderr, "Running %s on cluster %q as %s/%s. Press Ctrl-C to stop it.\n", p.Name, ready.cluster.Name(), p.Namespace, p.ServiceAccount)
	flags = append([]string{"--kubeconfig", ready.kubeconfig}, flags...)
	uncalled := func() {}
	switch {
	case p.Webhooks == "":
	case ready.cluster.Nodes() == cluster.Containers:
		fmt.Fprintf(os.Stderr, "It runs without its webhooks, because an API server in a container can't call this machine's loopback. "+
			"To run it in the cluster with its webhooks: ./scripts/workshop deploy %.2s\n", p.Name)
	default:
		local, stop, err := serveWebhooks(ctx, p, ready)
		if err != nil {
			return err
		}
		uncalled = sync.OnceFunc(stop)
		flags = slices.Concat(local, flags)
	}
	// On Ctrl-C, first nobody calls the webhooks any more. Otherwise, writes would fail while the program
	// ends.
	defer uncalled()
	whileCalled, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() {
		uncalled()
		end()
	})()
	running := process.NewCommand(whileCalled, 40*time.Second, ready.binary, flags...)
	running.Env = process.Environment(flags, nil)
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

// serveWebhooks makes the API server call the program's webhooks until stop is called. The program
// needs the flags.
func serveWebhooks(ctx context.Context, p program.Program, ready *prepared) (flags []string, stop func(), err error) {
	// Before the program reads anything: without a conversion, it would see TDSets without windows.
	local, configurations, err := p.PrepareWebhooks(ctx, ready.kubectl, ready.dir, "")
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
		for _, file := range ready.examples {
			if _, err := ready.kubectl.Run(ctx, "apply", "-f", file); err != nil && ctx.Err() == nil {
				fmt.Fprintln(os.Stderr, "workshop: an example isn't applied:", err)
			}
		}
		if err := ready.kubectl.Apply(ctx, configurations); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks aren't called:", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
		if err := program.DeleteWebhooks(context.WithoutCancel(ctx), ready.kubectl); err != nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks are still called, though nobody answers them; the next run deletes them:", err)
		}
	}
	return local.Flags(), stop, nil
}

func newDemoCommand() *cobra.Command {
	var tdset bool
	command := &cobra.Command{
		Use:   "demo [CHAPTER]",
		Short: "Watch an operator at work: a guided tour on a real API server",
		Long: `Demo brings the cluster up, starts a chapter's program on it, and does what users and accidents do: create, scale,
interfere, delete. After each step it shows the objects and the API requests that the program sent. Its exit code is 0 if
every step worked. Without a chapter it shows the first one.

With --tdset it shows the solution of the chapter's last exercise instead: TDSet, a Deployment that is scaled by the time of
day.

It uses the namespace "demo" (for TDSets "temp", from the sample) and deletes it in the end. If that has Foos or TDSets that no
tour has created, such as those of run, it doesn't start.`,
		Example: `  ./scripts/workshop demo
  ./scripts/workshop demo 01
  ./scripts/workshop demo 03 --tdset`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			chapter, err := oneProgram(args, tdset)
			if err != nil {
				return err
			}
			c, err := ensureUp(command.Context())
			if err != nil {
				return err
			}
			p, err := program.OfChapter(chapter)
			if err != nil {
				return err
			}
			if _, err := buildProgram(command.Context(), p); err != nil {
				return err // the tour builds it as well, with nothing left to do
			}
			tour := demo.Demo{Root: theRoot(), Bin: theControlPlane().Bin, Chapter: chapter, Cluster: c, Out: command.OutOrStdout()}
			return tour.Run(command.Context())
		},
	}
	addTDSetFlag(command, &tdset)
	return command
}

func addTDSetFlag(command *cobra.Command, tdset *bool) {
	command.Flags().BoolVar(tdset, "tdset", false, "use the solution of the chapter's last exercise, TDSet")
}

// oneProgram is oneChapter, or with tdset the solution of that chapter's exercise TDSet.
func oneProgram(args []string, tdset bool) (chapters.Chapter, error) {
	chapter, err := oneChapter(args)
	if err != nil || !tdset {
		return chapter, err
	}
	return solvedTDSet(chapter)
}

// theProgram returns the program that an argument names: a chapter's, its program for TDSets, or
// that of a ticket or a capstone for an argument such as 03/7.
func theProgram(arg string, tdset bool) (chapters.Chapter, program.Program, error) {
	if isExercise(arg) {
		e, err := exercises.FindOne(theRoot(), arg)
		if err != nil {
			return chapters.Chapter{}, program.Program{}, err
		}
		if !e.HasProgram() || tdset {
			return chapters.Chapter{}, program.Program{}, problem.New("%s has no program of its own, because it is neither a ticket nor a capstone", arg).
				ToDo("name a chapter, such as %s, or an exercise whose title begins with Ticket or Capstone (./scripts/workshop progress lists all)", e.Chapter.Number())
		}
		p, err := programOf(e)
		return e.Chapter, p, err
	}
	chapter, err := oneProgram([]string{arg}, tdset)
	if err != nil {
		return chapter, program.Program{}, err
	}
	p, err := program.OfChapter(chapter)
	return chapter, p, err
}

func solvedTDSet(chapter chapters.Chapter) (chapters.Chapter, error) {
	solved, found := chapter.TDSet()
	if !found {
		return solved, problem.New("chapter %s has no exercise TDSet", chapter.Name).ToDo("leave out --tdset, or choose one of 01 to 06")
	}
	return solved, nil
}

// oneChapter returns the chapter that args name, or the first one if args is empty.
func oneChapter(args []string) (chapters.Chapter, error) {
	found, err := chapters.Find(theRoot(), args...)
	if err != nil {
		return chapters.Chapter{}, err
	}
	return found[0], nil
}

// isExercise reports whether an argument names an exercise, such as 03/7, and not a chapter.
func isExercise(arg string) bool { return strings.Contains(strings.TrimSuffix(arg, "/"), "/") }

// programOf returns the program of a ticket or a capstone, as the learner has written it so far.
func programOf(e exercises.Exercise) (program.Program, error) {
	p, err := program.OfChapter(e.Chapter)
	if err != nil {
		return p, err
	}
	return p.InExercise(e.Folder)
}
