// Command workshop is the course's command line. Related commands share a file here, and the packages
// in scripts/internal do the work. This file has signals, errors and exit codes.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

const (
	exitFailed      = 1
	exitWrongUsage  = 2
	exitNotJudged   = 2   // see package judge
	exitInterrupted = 130 // as a shell reports Ctrl-C
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	// With this, a write to a closed pipe, as in `demo | head`, returns an error. See pipe.
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
	on := root.PersistentFlags().String("on", "",
		"the cluster's nodes: kwok (simulated) or kind (containers); the default is the kind cluster, if there is one")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		understood = true
		// The environment passes the settings on to the commands that this one runs.
		return errors.Join(os.Setenv(nodesVariable, cmp.Or(*on, os.Getenv(nodesVariable))), checkSettings())
	}

	command, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.EPIPE):
		return exitInterrupted
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "workshop: interrupted")
		return exitInterrupted
	case !understood:
		fmt.Fprintln(os.Stderr, ui.Wrap(fmt.Sprintf("workshop: %v", err)))
		fmt.Fprintf(os.Stderr, "Usage: %s\nSee: %s --help\n", command.UseLine(), command.CommandPath())
		return exitWrongUsage
	case errors.Is(err, problem.ErrReported):
		return exitCode(err)
	default:
		fmt.Fprintln(os.Stderr, ui.Wrap("workshop: "+problem.Format(err)))
		return exitCode(err)
	}
}

// exitCode is that of an error which has been reported.
func exitCode(err error) int {
	if _, unable := errors.AsType[judge.NotJudged](err); unable {
		return exitNotJudged
	}
	return exitFailed
}

// pipe is standard output. If its reader closes it, the command is cancelled and cleans up.
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

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "workshop",
		Short: "Kubernetes operators, from the wire up",
		Long: `Kubernetes operators, from the wire up: a real Kubernetes control plane on this machine, and the course's
chapters on it. It keeps all its files in .workshop/, and never reads or writes ~/.kube/config.`,
		Example: `  ./scripts/workshop up                  # a cluster (the first time, this takes minutes)
  ./scripts/workshop kubectl get nodes   # look at it
  ./scripts/workshop down                # stop it and keep its data`,
		SilenceUsage:      true, // an error's sentence is enough
		SilenceErrors:     true, // printed by run
		TraverseChildren:  true, // --on may stand before kubectl, all of whose flags are its own
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "./scripts/workshop"},
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		// Without these two, cobra answers an unknown command with the help and exit code 0.
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },

		DisableFlagsInUseLine: true,
	}
	cobra.EnableCommandSorting = false // --help shows them in the order in which they are needed
	addGroup(root, "Cluster",
		newUpCommand(), newDownCommand(), newStatusCommand(), newKubectlCommand(), newKubeconfigCommand(), newEnvCommand(),
		newAuditCommand(), newEtcdctlCommand())
	addGroup(root, "Learn",
		newDemoCommand(), newRunCommand(), newDiffCommand(), newJudgeCommand(), newLensCommand(),
		newDeployCommand(), newCheckCommand(), newWatchCommand(), newHintCommand(), newSolutionCommand(),
		newResetCommand(), newProgressCommand())
	addGroup(root, "Author",
		newTestCommand(), newDocsCommand())
	root.SetHelpCommandGroupID("Learn")
	template := strings.ReplaceAll(root.UsageTemplate(), ".FlagUsages", ".FlagUsagesWrapped 78")
	root.SetUsageTemplate(template + `{{if not .HasParent}}
WORKSHOP_CLUSTER=name in the environment picks another cluster than "workshop".
WORKSHOP_ON=kind is --on kind.
{{end}}`)
	wrapHelp(root)
	return root
}

// insideParagraph matches a line break of the source, which isn't one of the text.
var insideParagraph = regexp.MustCompile(`(\S)\n([^\s-])`)

func wrapHelp(command *cobra.Command) {
	command.Long = ui.Wrap(insideParagraph.ReplaceAllString(command.Long, "$1 $2"))
	for _, child := range command.Commands() {
		wrapHelp(child)
	}
}

func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title + ":"})
	for _, command := range commands {
		command.GroupID = title
	}
	root.AddCommand(commands...)
}
