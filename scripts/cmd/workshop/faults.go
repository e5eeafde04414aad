package main

// workshop faults injects one fault, and shows what a chapter's program does about it.

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/faults"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/ui"
)

func newFaultsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "faults [CHAPTER FAULT [-- FLAG...]]",
		Short: "Cause a fault, and watch what a chapter's program does about it",
		Long: `Faults runs a chapter's program on the cluster, as run does, but through a proxy that can cause faults. It
prints each request that the program sends, each line of its log, and each hit of the fault. When the program is
idle, press Enter to begin the fault, Enter again to end it, and Ctrl-C to exit. Without an argument, faults lists
the faults. Flags after -- are the program's.`,
		Example: `  ./scripts/workshop faults
  ./scripts/workshop faults 01 F4a
  ./scripts/workshop faults 03 F9 -- --workers 1`,
		Args: func(command *cobra.Command, args []string) error {
			if dash := command.ArgsLenAtDash(); dash == 2 || dash == -1 && (len(args) == 0 || len(args) == 2) {
				return nil
			}
			return errors.New(`name a chapter and a fault, as in "faults 01 F4a"; the program's own flags come after --`)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				listFaults(command)
				return nil
			}
			chapter, err := oneChapter(args[:1])
			if err != nil {
				return err
			}
			fault, err := faults.Find(args[1])
			if err != nil {
				return err
			}
			return tryFault(command, chapter, fault, args[2:])
		},
	}
}

func listFaults(command *cobra.Command) {
	for _, fault := range faults.All() {
		command.Println(ui.Item(fmt.Sprintf("%-5s", fault.Name), fault.Does+fault.Hint))
	}
	command.Println("\nTo try one: ./scripts/workshop faults 01 F4a\n" +
		"Which chapter survives which: scripts/acceptance/MATRIX.md")
}

func tryFault(command *cobra.Command, chapter chapters.Chapter, fault faults.Fault, flags []string) error {
	if fault.LeaderDies {
		return problem.New("%s needs two replicas of a program", fault.Name).
			ToDo("start and stop them yourself: see Two replicas in 03-workqueue/README.md")
	}
	p, err := program.OfChapter(chapter)
	if err != nil {
		return err
	}
	ready, err := prepare(command.Context(), p, false)
	if err != nil {
		return err
	}
	defer os.RemoveAll(ready.dir)
	running, end := ready.untilCleanedUp(command.Context())
	defer end()
	if fault.Replicas && contract.WhyNotHeld(chapter, fault.Name) == "" {
		flags = slices.Concat([]string{"--leader-elect"}, flags)
	}
	return faults.Session{
		Fault:      fault,
		Target:     ready.config,
		Binary:     ready.binary,
		Kubeconfig: ready.kubeconfig,
		Flags:      flags,
		Ready: func(ctx context.Context) error {
			_, err := ready.kubectl.Run(ctx, append([]string{"wait", "--timeout=1m"}, p.Settled()...)...)
			return err
		},
		Commands: map[string]string{faults.Scale: suggestions[p.Kind][1], faults.Delete: suggestions[p.Kind][2]},
		Turns:    onEnter(os.Stdin),
		Out:      command.OutOrStdout(),
		Colours:  colours(),
	}.Run(running)
}

// onEnter sends on each line of input. If nobody receives, it ends with the command.
func onEnter(in io.Reader) <-chan struct{} {
	turns := make(chan struct{})
	go func() {
		for lines := bufio.NewScanner(in); lines.Scan(); {
			turns <- struct{}{}
		}
	}()
	return turns
}
