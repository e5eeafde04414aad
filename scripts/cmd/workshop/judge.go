package main

// workshop judge holds any operator to the course's contract.

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// judgeFlags are those of judge, and of judge init.
type judgeFlags struct {
	file, kubeconfig            string
	yes                         bool
	output, junit, html, before string
	only                        []string
	parallel                    int
	solution                    bool
}

func newJudgeCommand() *cobra.Command {
	var flags judgeFlags
	command := &cobra.Command{
		Use:   "judge [-f FILE] -- OPERATOR [ARG...] | judge NN/K [-- ARG...]",
		Short: "Judge any operator by the course's contract",
		Long: `Judge runs an operator on the cluster behind the fault proxy, checks whether it keeps the course's promises, and prints a
report card. The operator is your own program, unchanged. judge.yaml says what it manages, and "judge init" writes that file.

Each check has its own namespace, ServiceAccount and process. In the operator's arguments, the judge replaces {kubeconfig}
with the path of a kubeconfig, {namespace} with the only namespace to act on, and {metrics} and {probes} with free ports. If
no argument has {namespace}, the checks run one after another.

"judge 03/9" judges the program that you wrote in that capstone, as its judge.yaml says. With --solution, it judges the
course's solution instead, so that you can compare the two reports.

The exit status is 0 if there is no finding that isn't in the baseline, 1 if there are such findings, and 2 if something
couldn't be judged, or if the judge itself fails.`,
		Example: `  ./scripts/workshop judge -f judge.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}
  ./scripts/workshop judge --only quiet,drift -- ./my-operator --kubeconfig {kubeconfig}
  ./scripts/workshop judge --html report.html --junit report.xml -- ./my-operator --kubeconfig {kubeconfig}
  ./scripts/workshop judge 03/9`,
		Args: needsOperatorOrCapstone,
		RunE: func(command *cobra.Command, args []string) error {
			judgeThis := runJudge
			if namesCapstone(command, args) {
				judgeThis = judgeCapstone
			}
			report, err := judgeThis(command, flags, args)
			if err == nil {
				err = writeReport(command.OutOrStdout(), report, flags)
			}
			if err != nil {
				return couldNotJudge{err}
			}
			switch report.Status() {
			case 0:
				return nil
			case 1:
				return errReported
			default:
				return couldNotJudge{errReported}
			}
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "what the operator manages")
	command.Flags().StringVarP(&flags.output, "output", "o", "card", "what to print: card or json")
	command.Flags().StringVar(&flags.junit, "junit", "", "write a JUnit report to this file")
	command.Flags().StringVar(&flags.html, "html", "", "write a report with all evidence and timelines to this HTML file")
	command.Flags().StringVar(&flags.before, "baseline", "", "an earlier JSON report; its findings don't count")
	command.Flags().StringSliceVar(&flags.only, "only", nil, `run only these checks ("judge explain" lists them)`)
	command.Flags().IntVar(&flags.parallel, "parallel", judge.DefaultParallel, "how many checks run at the same time, if {namespace} is an argument")
	command.Flags().BoolVar(&flags.solution, "solution", false, "with the name of a capstone: judge the course's solution instead of your program")
	command.AddCommand(newJudgeInitCommand(), newJudgeExplainCommand())
	return command
}

// add adds the flags that say where to judge.
func (f *judgeFlags) add(command *cobra.Command) {
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "judge on the cluster of this kubeconfig's current context, instead of the workshop's; it must be disposable")
	command.Flags().BoolVar(&f.yes, "yes", false, "don't ask whether the cluster of --kubeconfig is disposable")
}

func needsOperator(command *cobra.Command, args []string) error {
	if command.ArgsLenAtDash() != 0 || len(args) == 0 {
		return fmt.Errorf("%s needs the operator's command after --, such as -- ./my-operator --kubeconfig {kubeconfig}", command.Name())
	}
	return nil
}

func newJudgeInitCommand() *cobra.Command {
	var flags judgeFlags
	var crds []string
	var sample, permissions string
	command := &cobra.Command{
		Use:   "init --crd FILE --sample FILE -- OPERATOR [ARG...]",
		Short: "Write a judge.yaml by watching what the operator does",
		Long: `Init runs the operator with the sample, and finds out which objects it creates, which condition becomes True, and which
fields of these objects follow the fields of the sample. It writes this to judge.yaml. Read that file, and complete it.`,
		Example: `  ./scripts/workshop judge init --crd crd.yaml --sample sample.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}`,
		Args:    needsOperator,
		RunE: func(command *cobra.Command, args []string) error {
			if _, err := os.Stat(flags.file); err == nil {
				return couldNotJudge{problem.New("%s is there already", flags.file).ToDo("remove it, or name another file with -f")}
			}
			config := judge.NewConfig()
			err := absolute(&sample, &permissions)
			for i := range crds {
				err = errors.Join(err, absolute(&crds[i]))
			}
			config.Manifests, config.Samples, config.Permissions = crds, []string{sample}, permissions
			if err != nil {
				return couldNotJudge{err}
			}
			options, err := judgeOptions(command.Context(), flags, args)
			if err != nil {
				return couldNotJudge{err}
			}
			options.Config = config
			folder, err := filepath.Abs(filepath.Dir(flags.file))
			if err != nil {
				return couldNotJudge{err}
			}
			text, err := judge.Init(command.Context(), options, folder)
			if err == nil {
				err = os.WriteFile(flags.file, []byte(text), 0o644)
			}
			if err != nil {
				return couldNotJudge{err}
			}
			fmt.Fprintf(command.OutOrStdout(), "Wrote %s. Read it, and then run: ./scripts/workshop judge -f %s -- %s\n", flags.file, flags.file, strings.Join(args, " "))
			return nil
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "the file to write")
	command.Flags().StringSliceVar(&crds, "crd", nil, "a file with a CRD, or with other objects that the operator needs")
	command.Flags().StringVar(&sample, "sample", "", "a file with one object that the operator manages")
	command.Flags().StringVar(&permissions, "permissions", "", "a file with the operator's Roles; without it, the operator may do everything")
	return command
}

func newJudgeExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CHECK | judge.yaml]",
		Short: "Say what a check does and why, or describe judge.yaml",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return judge.Explain(command.OutOrStdout(), strings.Join(args, ""))
		},
	}
}

// couldNotJudge ends the command with exit status 2.
type couldNotJudge struct{ error }

func (c couldNotJudge) Unwrap() error { return c.error }

// absolute makes the paths of files absolute. "" stays.
func absolute(paths ...*string) error {
	for _, path := range paths {
		if *path == "" {
			continue
		}
		if _, err := os.Stat(*path); err != nil {
			return err
		}
		made, err := filepath.Abs(*path)
		if err != nil {
			return err
		}
		*path = made
	}
	return nil
}

func runJudge(command *cobra.Command, flags judgeFlags, args []string) (report judge.Report, err error) {
	if flags.output != "card" && flags.output != "json" {
		return report, problem.New("-o %s: there is no such output", flags.output).ToDo("choose card or json; --junit and --html write files")
	}
	if flags.parallel < 1 {
		return report, problem.New("--parallel %d is too few", flags.parallel).ToDo("choose 1 or more; more than 4 need more than two cores")
	}
	config, err := judge.Read(flags.file)
	if err != nil {
		return report, err
	}
	checks, err := judge.Find(flags.only...)
	if err != nil {
		return report, err
	}
	var baseline judge.Report
	if flags.before != "" {
		if baseline, err = judge.ReadReport(flags.before); err != nil {
			return report, err
		}
	}
	options, err := judgeOptions(command.Context(), flags, args)
	if err != nil {
		return report, err
	}
	options.Config, options.Checks, options.Parallel = config, checks, flags.parallel
	ended := 0
	step := ui.New(os.Stderr).Start("judging " + filepath.Base(args[0]))
	options.Progress = func(r judge.Result) {
		if r.Verdict != "" {
			ended++
		}
		step.Update("%d of %d checks: %s", ended, len(checks), r.Check)
	}
	results, err := judge.Run(command.Context(), options)
	step.Drop()
	report = judge.Report{Version: judge.FormatVersion, Operator: filepath.Base(args[0]), Results: results}
	report.Compare(baseline)
	return report, err
}

// judgeOptions finds the operator and the cluster.
func judgeOptions(ctx context.Context, flags judgeFlags, args []string) (options judge.Options, err error) {
	binary, err := exec.LookPath(args[0])
	if err != nil {
		return options, problem.New("the operator %s can't be run", args[0]).ToDo("build it, and name its binary after --").Because(err)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return options, err
	}
	options.Command = append([]string{binary}, args[1:]...)
	if flags.kubeconfig == "" {
		c, err := ensureUp(ctx)
		if err != nil {
			return options, err
		}
		options.Target, err = cluster.RESTConfig(c)
		options.Kubectl = kubectlOn(c)
		return options, err
	}
	if err := absolute(&flags.kubeconfig); err != nil {
		return options, err
	}
	if options.Target, err = clientcmd.BuildConfigFromFlags("", flags.kubeconfig); err != nil {
		return options, err
	}
	if err := confirm(options.Target, flags.yes); err != nil {
		return options, err
	}
	if err := ensureBuilt(ctx, ui.New(os.Stderr), cluster.Containers); err != nil { // just kubectl
		return options, err
	}
	options.Kubectl = kubectl.Kubectl{Binary: kubectlOn(theCluster()).Binary, Kubeconfig: flags.kubeconfig}
	return options, nil
}

// confirm asks whether the judge may use this cluster.
func confirm(target *rest.Config, yes bool) error {
	if yes {
		return nil
	}
	refused := problem.New("the judge needs your consent to use %s", target.Host).
		ToDo("type yes if the cluster is disposable, or add --yes; without --kubeconfig, the judge uses the workshop's cluster")
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return refused
	}
	fmt.Fprintf(os.Stderr, "The judge will apply CRDs to %s, create namespaces, and run the operator there. Is the cluster disposable? Type yes: ", target.Host)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return refused
	}
	return nil
}

// writeReport prints the report, and writes the files that were asked for.
func writeReport(w io.Writer, report judge.Report, flags judgeFlags) error {
	if flags.output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return err
		}
	} else {
		report.WriteCard(w, colours())
	}
	return errors.Join(toFile(flags.junit, report.WriteJUnit), toFile(flags.html, report.WriteHTML))
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
