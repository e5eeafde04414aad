package main

// workshop run starts a chapter's program.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

func newRunCommand() *cobra.Command {
	var tdset bool
	var store string
	command := &cobra.Command{
		Use:   "run CHAPTER[/K] [-- FLAG...]",
		Short: "Run a chapter's program until you press Ctrl-C",
		Long: `Run brings the cluster up, applies the chapter's CRD, permissions and example, and runs its program with only
the permissions that its manifests grant. Flags after -- are the program's. If the chapter has webhooks, the API
server calls them while the program runs. When you press Ctrl-C, run deletes the example, unless it was there before.

A ticket (an exercise that begins with a symptom) has a program of its own, as in "run 03/7". In a capstone, it runs the
program that you wrote, as in "run 03/9".`,
		Example: `  ./scripts/workshop run 01
  ./scripts/workshop run 01 -- --trace
  ./scripts/workshop run 01 --tdset -- --now 2026-01-01T08:59:50Z
  ./scripts/workshop run 03/7
  ./scripts/workshop run 07 --store v1`,
		Args: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); len(args) == 0 || dash == 0 || len(args) > 1 && dash != 1 {
				return errors.New("which program? Name one chapter, and after -- the program's own flags, as in 01 -- -v 4")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
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
	command.Flags().StringVar(&store, "store", "",
		"the version of the API in which objects are stored (default: the one in the CRD)")
	return command
}

func runProgram(ctx context.Context, p program.Program, flags []string) error {
	ready, err := prepare(ctx, p)
	if err != nil {
		return err
	}
	defer os.RemoveAll(ready.dir)
	running, end := ready.untilCleanedUp(ctx)
	defer end()

	fmt.Fprintln(os.Stderr, ui.Wrap(ready.introduction()))
	flags = append(ready.flags, flags...)
	command := process.NewCommand(running, 40*time.Second, ready.binary, flags...)
	command.Env = operator.Environment(flags, nil)
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	err = command.Run()
	if err == nil || ctx.Err() != nil {
		return nil // Ctrl-C is how this ends
	}
	return fmt.Errorf("%s ended: %w", p.Name, err)
}

// introduction says what was applied, and what to try while the program runs.
func (r *prepared) introduction() string {
	p := r.program
	text := fmt.Sprintf("Running %s on cluster %q as %s/%s. Press Ctrl-C to stop it.\n"+
		"Applied: its CRD, its permissions, and %s, which is deleted at the end unless it was there before. The rest stays.",
		p.Name, r.cluster.Name(), p.Namespace, p.ServiceAccount, ui.Relative(theRoot(), p.Examples[len(p.Examples)-1]))
	text += suggest(p.Kind)
	if p.Webhooks != "" && r.stopServing == nil {
		text += "\nIt runs without its webhooks, because an API server in a container can't call this machine's loopback. " +
			"To run it in the cluster with its webhooks:\n    ./scripts/workshop deploy " + p.Name[:2]
	}
	return text
}

func addTDSetFlag(command *cobra.Command, tdset *bool) {
	command.Flags().BoolVar(tdset, "tdset", false,
		"use the solution of the chapter's last exercise, TDSet: a Deployment that is scaled by the time of day")
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
func theProgram(arg string, tdset bool) (chapter chapters.Chapter, p program.Program, err error) {
	if !isExercise(arg) {
		if chapter, err = oneProgram([]string{arg}, tdset); err != nil {
			return chapter, p, err
		}
		p, err = program.OfChapter(chapter)
		return chapter, p, err
	}
	e, err := exercises.FindOne(theRoot(), arg)
	if err != nil {
		return chapter, p, err
	}
	if !e.HasProgram() || tdset {
		return chapter, p, problem.New("%s has no program of its own, because it is neither a ticket nor a capstone", arg).
			ToDo("name a chapter, such as %s, or an exercise whose title begins with Ticket or Capstone "+
				"(./scripts/workshop progress --all lists them)", e.Chapter.Number())
	}
	p, err = program.OfExercise(e.Chapter, e.Folder)
	return e.Chapter, p, err
}

func solvedTDSet(chapter chapters.Chapter) (chapters.Chapter, error) {
	if solved, found := chapter.TDSet(); found {
		return solved, nil
	}
	return chapter, problem.New("chapter %s has no exercise TDSet", chapter.Name).
		ToDo("leave out --tdset, or choose one of 01 to 06")
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
