// Command workshop is the course's command line. Each command has a file of its own here; the work is done by the
// packages in scripts/internal. This file has what all commands share: signals, errors and exit codes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/problem"
)

const (
	exitFailed      = 1
	exitWrongUsage  = 2
	exitInterrupted = 130 // as a shell reports Ctrl-C
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	// A write to a pipe that nobody reads, as in `demo | head`, is then an error like any other, and doesn't end the program at
	// once: see pipe.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	os.Exit(run(ctx, os.Args[1:]))
}

// run runs one command line, reports its error if there is one, and returns the exit code.
func run(ctx context.Context, args []string) int {
	root := newRootCommand()
	root.SetArgs(args)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	root.SetOut(pipe{os.Stdout, cancel}) // cobra prints to stderr otherwise
	understood := false
	on := root.PersistentFlags().String("on", "", "the cluster's nodes: kwok (simulated) or kind (containers); the default is the kind cluster, if there is one")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		understood = true
		where, err := findRoot()
		if err != nil {
			return err
		}
		// The environment passes the settings on to the commands that this one runs.
		return errors.Join(os.Setenv(rootVariable, where), os.Setenv(nodesVariable, cmp.Or(*on, os.Getenv(nodesVariable))), checkSettings())
	}

	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return exitInterrupted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "workshop: interrupted; run the same command again to continue from here")
		return exitInterrupted
	case !understood:
		fmt.Fprintf(os.Stderr, "workshop: %v\nUsage: %s\nSee: %s --help\n", err, command.UseLine(), command.CommandPath())
		return exitWrongUsage
	case errors.Is(err, errReported):
		return exitFailed
	default:
		fmt.Fprintln(os.Stderr, "workshop: "+problem.Format(err))
		return exitFailed
	}
}

// pipe is standard output. When nobody reads it any more, the command ends as it does by Ctrl-C, and leaves nothing behind.
type pipe struct {
	io.Writer
	cancel context.CancelFunc
}

func (p pipe) Write(data []byte) (int, error) {
	n, err := p.Writer.Write(data)
	if errors.Is(err, syscall.EPIPE) {
		p.cancel()
	}
	return n, err
}

// errReported ends a command with exit code 1 when its output has said all there is to say.
var errReported = errors.New("already reported")

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "workshop",
		Short: "Kubernetes operators, from the wire up",
		Long: `Kubernetes operators, from the wire up: a real Kubernetes control plane on this machine, and the course's
chapters on it. It keeps all its files in .workshop/, and never reads or writes ~/.kube/config.`,
		Example: `  ./scripts/workshop up                  # a cluster, in seconds (the first time: minutes)
  ./scripts/workshop kubectl get nodes   # look at it
  ./scripts/workshop down                # stop it and keep its data`,
		SilenceUsage:      true, // an error's sentence is enough
		SilenceErrors:     true, // printed by run
		TraverseChildren:  true, // --on may stand before kubectl, all of whose flags are its own
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "./scripts/workshop"},
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		// Without these two, cobra shows the help for an unknown command as well, and calls that a success.
		Args: knownCommand,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },

		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
	}
	cobra.EnableCommandSorting = false // --help shows them in the order in which they are needed
	addGroup(root, "Cluster",
		newUpCommand(), newDownCommand(), newStatusCommand(), newKubectlCommand(), newKubeconfigCommand(), newEnvCommand(),
		newAuditCommand(), newDoctorCommand())
	addGroup(root, "Learn",
		newDemoCommand(), newRunCommand(), newDiffCommand(), newFaultsCommand(), newDeployCommand(), newScheduleCommand(),
		newCheckCommand(), newWatchCommand(), newHintCommand(), newSolutionCommand(), newResetCommand(), newProgressCommand())
	addGroup(root, "Lead",
		newAgendaCommand(), newCatchUpCommand(), newPackCommand())
	addGroup(root, "Author",
		newTestCommand(), newDocsCommand())
	root.SetHelpCommandGroupID("Learn")
	root.SetUsageTemplate(root.UsageTemplate() + `{{if not .HasParent}}
WORKSHOP_CLUSTER=name in the environment picks another cluster than "workshop"; WORKSHOP_ON=kind is --on kind.
{{end}}`)
	return root
}

// knownCommand refuses the name of a command that doesn't exist, and suggests the ones that are spelled almost like it.
func knownCommand(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	unknown := fmt.Errorf("unknown command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("%w; did you mean %s?", unknown, strings.Join(near, " or "))
	}
	return unknown
}

// addGroup adds commands that --help shows together, under that title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, command := range commands {
		command.GroupID = title
	}
	root.AddCommand(commands...)
}
