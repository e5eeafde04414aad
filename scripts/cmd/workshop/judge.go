package main

// workshop judge: package judge for any operator, and for capstones, the exercises in which the
// learner writes a program from an empty file.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// judgeFlags are those of judge, and of judge init.
type judgeFlags struct {
	file, kubeconfig, html string
	yes, solution          bool
	only                   []string
}

// notJudged ends the command with exit status 2.
type notJudged struct{ error }

func (n notJudged) Unwrap() error { return n.error }

func newJudgeCommand() *cobra.Command {
	var flags judgeFlags
	command := &cobra.Command{
		Use:   "judge [-f FILE] -- OPERATOR [ARG...] | judge NN/K [-- ARG...]",
		Short: "Judge any operator by the course's contract",
		Long: `Judge runs an operator on the cluster, behind the fault proxy. It checks whether the operator keeps the
course's promises and prints a report card. The operator is your own program, unchanged. judge.yaml says what it
manages, and "judge init" writes that file.

Each check has its own namespace, ServiceAccount and process. In the operator's arguments, the judge replaces
{kubeconfig} with the path of a kubeconfig, {namespace} with the only namespace to act on, and {metrics} and {probes}
with free ports. If no argument has {namespace}, the checks run one after another.

"judge 03/9" judges the program that you wrote in that capstone, with the capstone's own judge.yaml. With --solution, it
judges the course's solution instead, so that you can compare the two reports.

The exit status is 0 if there are no findings, 1 if there are some, and 2 if there are none but something couldn't be
judged, or if the judge itself fails.`,
		Example: `  ./scripts/workshop judge -f judge.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}
  ./scripts/workshop judge --only quiet,drift -- ./my-operator --kubeconfig {kubeconfig}
  ./scripts/workshop judge --html report.html -- ./my-operator --kubeconfig {kubeconfig}
  ./scripts/workshop judge 03/9`,
		Args: func(command *cobra.Command, args []string) error {
			if namesCapstone(command, args) {
				return nil
			}
			return needsOperator(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			status, err := flags.judge(command, args)
			if err == nil && status != 0 {
				err = problem.ErrReported
			}
			if err != nil && status != 1 {
				return notJudged{err}
			}
			return err
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "what the operator manages")
	command.Flags().StringVar(&flags.html, "html", "", "write a report with all evidence and timelines to this HTML file")
	command.Flags().StringSliceVar(&flags.only, "only", nil, `run only these checks ("judge explain" lists them)`)
	command.Flags().BoolVar(&flags.solution, "solution", false, "judge a capstone's solution instead of your program")
	command.AddCommand(newJudgeInitCommand(), newExplainCommand())
	return command
}

// add adds the flags that say where to judge.
func (f *judgeFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "",
		"judge on the cluster of this kubeconfig's current context (default: the workshop's own cluster)")
	command.Flags().BoolVar(&f.yes, "yes", false, "the cluster of --kubeconfig is disposable")
}

// namesCapstone reports whether the arguments name an exercise, and not an operator, which comes
// after --.
func namesCapstone(command *cobra.Command, args []string) bool {
	dash := command.ArgsLenAtDash()
	return len(args) > 0 && strings.Contains(args[0], "/") && (dash == 1 || dash < 0 && len(args) == 1)
}

func needsOperator(command *cobra.Command, args []string) error {
	if command.ArgsLenAtDash() != 0 || len(args) == 0 {
		return fmt.Errorf("%s needs the operator's command after --, such as -- ./my-operator --kubeconfig {kubeconfig}",
			command.Name())
	}
	return nil
}

// judge judges an operator or a capstone, writes the reports, and returns the exit status.
func (f *judgeFlags) judge(command *cobra.Command, args []string) (status int, err error) {
	record := func(int) error { return nil }
	if namesCapstone(command, args) {
		if command.Flags().Changed("file") {
			return 0, problem.New("-f can't be used with a capstone, which has its own judge.yaml").
				ToDo("leave out -f, or name an operator after --")
		}
		if args[0], record, err = f.capstone(command.Context(), args[0]); err != nil {
			return 0, err
		}
	}
	report, err := f.run(command.Context(), args)
	if err != nil {
		return 0, err
	}
	status = report.Status()
	report.WriteCard(command.OutOrStdout(), ui.NewPalette(ui.Coloured(os.Stdout)))
	return status, errors.Join(toFile(f.html, report.WriteHTML), record(status))
}

// capstone builds the program of a capstone, or its solution. record records the learner's result.
func (f *judgeFlags) capstone(ctx context.Context, name string) (binary string, record func(int) error, err error) {
	e, err := exercises.FindCapstone(theRoot(), name)
	if err != nil {
		return "", nil, err
	}
	f.file = e.File(exercises.JudgeFile)
	p, err := programOf(e)
	if err != nil {
		return "", nil, err
	}
	if f.solution {
		p = p.Solution()
	}
	record = func(status int) error {
		if f.solution || len(f.only) > 0 {
			return nil
		}
		return exercises.RecordJudged(theRoot(), e, status == 0)
	}
	binary, err = buildProgram(ctx, p)
	return binary, record, err
}

func (f *judgeFlags) run(ctx context.Context, args []string) (report judge.Report, err error) {
	config, err := judge.Read(f.file)
	if err != nil {
		return report, err
	}
	checks, err := judge.Find(f.only...)
	if err != nil {
		return report, err
	}
	options, err := f.options(ctx, args)
	if err != nil {
		return report, err
	}
	options.Config, options.Checks = config, checks
	report.Operator = filepath.Base(args[0])
	step := ui.New(os.Stderr).Start("judging " + report.Operator)
	options.Progress = func(done int) { step.Update("%d of %d checks", done, len(checks)) }
	report.Results, err = judge.Run(ctx, options)
	step.Drop()
	return report, err
}

// options finds the operator and the cluster.
func (f *judgeFlags) options(ctx context.Context, args []string) (options judge.Options, err error) {
	binary, err := exec.LookPath(args[0])
	if err != nil {
		return options, problem.New("the operator %s can't be run", args[0]).
			ToDo("build it, and name its binary after --").Because(err)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return options, err
	}
	options.Command = append([]string{binary}, args[1:]...)
	options.Target, err = f.target(ctx)
	return options, err
}

func (f *judgeFlags) target(ctx context.Context) (*rest.Config, error) {
	if f.kubeconfig == "" {
		c, err := ensureUp(ctx)
		if err != nil {
			return nil, err
		}
		return cluster.RESTConfig(c)
	}
	target, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err == nil && !f.yes {
		err = problem.New("the judge would apply CRDs to %s, create namespaces, and run the operator there", target.Host).
			ToDo("add --yes if the cluster is disposable")
	}
	return target, err
}

// toFile lets write write a file, unless its name is "".
func toFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

func newJudgeInitCommand() *cobra.Command {
	var flags judgeFlags
	config := judge.NewConfig()
	command := &cobra.Command{
		Use:   "init --crd FILE --sample FILE -- OPERATOR [ARG...]",
		Short: "Write a judge.yaml by watching what the operator does",
		Long: `Init runs the operator with the sample. It finds out which objects the operator creates, which condition
becomes True, and which fields of these objects follow the fields of the sample. It writes all of this to judge.yaml.
Read that file and complete it.`,
		Example: `  ./scripts/workshop judge init --crd crd.yaml --sample foo.yaml -- ./my-operator --kubeconfig {kubeconfig}`,
		Args:    needsOperator,
		RunE: func(command *cobra.Command, args []string) error {
			if _, err := os.Stat(flags.file); err == nil {
				return problem.New("%s already exists", flags.file).ToDo("remove it, or name another file with -f")
			}
			options, err := flags.options(command.Context(), args)
			if err != nil {
				return err
			}
			options.Config = config
			text, err := judge.Init(command.Context(), options, filepath.Dir(flags.file))
			if err == nil {
				err = os.WriteFile(flags.file, []byte(text), 0o644)
			}
			if err == nil {
				command.Printf("Wrote %s. Read it, correct it, and then run: ./scripts/workshop judge -f %s -- %s\n",
					flags.file, flags.file, strings.Join(args, " "))
			}
			return err
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "the file to write")
	command.Flags().StringSliceVar(&config.Manifests, "crd", nil,
		"a file with a CRD, or with other objects that the operator needs")
	command.Flags().StringSliceVar(&config.Samples, "sample", nil, "a file with one object that the operator manages")
	_ = command.MarkFlagRequired("sample")
	return command
}

func newExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CHECK | judge.yaml]",
		Short: "Say what a check does and why, or describe judge.yaml",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] == "judge.yaml" {
				command.Print(judge.Reference)
				return nil
			}
			checks, err := judge.Find(args...)
			if err != nil {
				return err
			}
			for _, c := range checks {
				if len(args) == 0 {
					command.Printf("%-26s %s\n", c.Name, c.Promise)
				} else {
					command.Printf("%s: %s\n\n%s\n\nThe course teaches this in %s.\n", c.Name, c.Promise, c.Why, c.Lesson)
				}
			}
			return nil
		},
	}
}
