package judge

// The judge's command line. `workshop judge` and scripts/judge share it.

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

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

// Host is the program that the judge is a command of.
type Host struct {
	// Call is how users call the judge, such as ./scripts/workshop judge.
	Call string
	// Cluster returns the API server to judge on, if --kubeconfig names none. If it is nil,
	// --kubeconfig is required.
	Cluster func(context.Context) (*rest.Config, error)
	// Capstone finds the program that a learner has written in an exercise, or its solution. It may be
	// nil.
	Capstone func(ctx context.Context, name string, solution bool) (Capstone, error)
}

// Capstone is a program that a learner has written.
type Capstone struct {
	File, Binary string             // its judge.yaml, and the program
	Record       func(Report) error // is called if all checks have run; may be nil
}

// Command returns the judge's command.
func Command(host Host) *cobra.Command {
	flags := flags{host: host}
	command := &cobra.Command{
		Use:   "judge [-f FILE] -- OPERATOR [ARG...]",
		Short: "Judge any operator by the course's contract",
		Long: `Judge runs an operator on the cluster, behind the fault proxy. It checks whether the operator keeps the course's promises
and prints a report card. The operator is your own program, unchanged. judge.yaml says what it manages, and "judge init"
writes that file.

Each check has its own namespace, ServiceAccount and process. In the operator's arguments, the judge replaces {kubeconfig}
with the path of a kubeconfig, {namespace} with the only namespace to act on, and {metrics} and {probes} with free ports. If
no argument has {namespace}, the checks run one after another.
` + capstoneHelp(host) + `
The exit status is 0 if every finding is in the baseline, 1 if there are new findings, and 2 if there are none but something
couldn't be judged, or if the judge itself fails.`,
		Example: strings.ReplaceAll(`  CALL -f judge.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}
  CALL --only quiet,drift -- ./my-operator --kubeconfig {kubeconfig}
  CALL --html report.html --junit report.xml -- ./my-operator --kubeconfig {kubeconfig}`, "CALL", host.Call),
		Args: func(command *cobra.Command, args []string) error {
			if flags.namesCapstone(command, args) {
				return nil
			}
			return needsOperator(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			report, err := flags.judge(command, args)
			if err == nil {
				err = flags.write(command.OutOrStdout(), report)
			}
			switch {
			case err != nil:
				return NotJudged{err}
			case report.Status() == 0:
				return nil
			case report.Status() == 1:
				return problem.ErrReported
			default:
				return NotJudged{problem.ErrReported}
			}
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "what the operator manages")
	command.Flags().StringVarP(&flags.output, "output", "o", "card", "what to print: card or json")
	command.Flags().StringVar(&flags.junit, "junit", "", "write a JUnit report to this file")
	command.Flags().StringVar(&flags.html, "html", "", "write a report with all evidence and timelines to this HTML file")
	command.Flags().StringVar(&flags.baseline, "baseline", "", "an earlier JSON report, whose findings don't count")
	command.Flags().StringSliceVar(&flags.only, "only", nil, `run only these checks ("judge explain" lists them)`)
	command.Flags().IntVar(&flags.parallel, "parallel", DefaultParallel, "how many checks run at the same time, "+
		"if {namespace} is an argument")
	if host.Capstone != nil {
		command.Use += " | judge NN/K [-- ARG...]"
		command.Example += "\n  " + host.Call + " 03/9"
		command.Flags().BoolVar(&flags.solution, "solution", false, "with the name of a capstone: judge the "+
			"course's solution instead of your program")
	}
	command.AddCommand(newInitCommand(host), newExplainCommand())
	return command
}

func capstoneHelp(host Host) string {
	if host.Capstone == nil {
		return ""
	}
	return `
"judge 03/9" judges the program that you wrote in that capstone, with the capstone's own judge.yaml. With --solution, it
judges the course's solution instead, so that you can compare the two reports.
`
}

// NotJudged ends the command with exit status 2.
type NotJudged struct{ error }

func (n NotJudged) Unwrap() error { return n.error }

// flags are those of judge, and of judge init.
type flags struct {
	host                          Host
	file, kubeconfig              string
	yes                           bool
	output, junit, html, baseline string
	only                          []string
	parallel                      int
	solution                      bool
}

// add adds the flags that say where to judge.
func (f *flags) add(command *cobra.Command) {
	usage := "judge on the cluster of this kubeconfig's current context, which must be disposable"
	if f.host.Cluster != nil {
		usage += " (default: the workshop's own cluster)"
	}
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", usage)
	command.Flags().BoolVar(&f.yes, "yes", false, "don't ask whether the cluster of --kubeconfig is disposable")
}

// namesCapstone reports whether the arguments name an exercise, and not an operator, which comes
// after --.
func (f *flags) namesCapstone(command *cobra.Command, args []string) bool {
	dash := command.ArgsLenAtDash()
	return f.host.Capstone != nil && dash != 0 && len(args) > 0 && strings.Contains(args[0], "/") && (len(args) == 1 || dash == 1)
}

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

// judge judges an operator, or a capstone and records the result.
func (f *flags) judge(command *cobra.Command, args []string) (report Report, err error) {
	if !f.namesCapstone(command, args) {
		return f.run(command.Context(), args)
	}
	if command.Flags().Changed("file") {
		return report, problem.New("-f can't be used with a capstone, which has its own judge.yaml").ToDo("leave out -f, or name an operator after --")
	}
	capstone, err := f.host.Capstone(command.Context(), args[0], f.solution)
	if err != nil {
		return report, err
	}
	f.file = capstone.File
	report, err = f.run(command.Context(), append([]string{capstone.Binary}, args[1:]...))
	if err == nil && capstone.Record != nil && len(f.only) == 0 {
		err = capstone.Record(report)
	}
	return report, err
}

func (f *flags) run(ctx context.Context, args []string) (report Report, err error) {
	if f.output != "card" && f.output != "json" {
		return report, problem.New("-o %s: there is no such output", f.output).ToDo("choose card or json; --junit " +
			"and --html write files")
	}
	if f.parallel < 1 {
		return report, problem.New("--parallel %d is too few", f.parallel).ToDo("choose 1 or more; more than 4 need " +
			"more than two cores")
	}
	config, err := Read(f.file)
	if err != nil {
		return report, err
	}
	checks, err := Find(f.only...)
	if err != nil {
		return report, err
	}
	var baseline Report
	if f.baseline != "" {
		if baseline, err = ReadReport(f.baseline); err != nil {
			return report, err
		}
	}
	options, err := f.options(ctx, args)
	if err != nil {
		return report, err
	}
	options.Config, options.Checks, options.Parallel = config, checks, f.parallel
	ended := 0
	step := ui.New(os.Stderr).Start("judging " + filepath.Base(args[0]))
	options.Progress = func(r Result) {
		if r.Verdict != "" {
			ended++
		}
		step.Update("%d of %d checks: %s", ended, len(checks), r.Check)
	}
	results, err := Run(ctx, options)
	step.Drop()
	report = Report{Version: FormatVersion, Operator: filepath.Base(args[0]), Results: results}
	report.Compare(baseline)
	return report, err
}

// options finds the operator and the cluster.
func (f *flags) options(ctx context.Context, args []string) (options Options, err error) {
	binary, err := exec.LookPath(args[0])
	if err != nil {
		return options, problem.New("the operator %s can't be run", args[0]).ToDo("build it, and name its binary " +
			"after --").Because(err)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return options, err
	}
	options.Command = append([]string{binary}, args[1:]...)
	switch {
	case f.kubeconfig != "":
		if err := absolute(&f.kubeconfig); err != nil {
			return options, err
		}
		if options.Target, err = clientcmd.BuildConfigFromFlags("", f.kubeconfig); err != nil {
			return options, err
		}
		return options, f.confirm(options.Target)
	case f.host.Cluster != nil:
		options.Target, err = f.host.Cluster(ctx)
		return options, err
	default:
		return options, problem.New("the judge needs a cluster").ToDo("name the kubeconfig of a disposable cluster " +
			"with --kubeconfig")
	}
}

// confirm asks whether the judge may use this cluster.
func (f *flags) confirm(target *rest.Config) error {
	if f.yes {
		return nil
	}
	refused := problem.New("the judge needs your consent to use %s", target.Host).
		ToDo("type yes if the cluster is disposable, or add --yes")
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return refused
	}
	fmt.Fprintf(os.Stderr, "The judge will apply CRDs to %s, create namespaces, and run the operator there. If "+
		"the cluster is disposable, type yes: ", target.Host)
	answer, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil || strings.TrimSpace(answer) != "yes" {
		return refused
	}
	return nil
}

// write prints the report, and writes the files that were asked for.
func (f *flags) write(w io.Writer, report Report) error {
	if f.output == "json" {
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(report); err != nil {
			return err
		}
	} else {
		report.WriteCard(w, ui.NewPalette(ui.Coloured(os.Stdout)))
	}
	return errors.Join(toFile(f.junit, report.WriteJUnit), toFile(f.html, report.WriteHTML))
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

func needsOperator(command *cobra.Command, args []string) error {
	if command.ArgsLenAtDash() != 0 || len(args) == 0 {
		return fmt.Errorf("%s needs the operator's command after --, such as -- ./my-operator --kubeconfig "+
			"{kubeconfig}", command.Name())
	}
	return nil
}

func newInitCommand(host Host) *cobra.Command {
	flags := flags{host: host}
	var crds []string
	var sample, permissions string
	command := &cobra.Command{
		Use:   "init --crd FILE --sample FILE -- OPERATOR [ARG...]",
		Short: "Write a judge.yaml by watching what the operator does",
		Long: `Init runs the operator with the sample. It finds out which objects the operator creates, which condition becomes True,
and which fields of these objects follow the fields of the sample. It writes all of this to judge.yaml. Read that file and
complete it.`,
		Example: `  ` + host.Call + ` init --crd crd.yaml --sample sample.yaml -- ./my-operator --kubeconfig {kubeconfig} --namespace {namespace}`,
		Args:    needsOperator,
		RunE: func(command *cobra.Command, args []string) error {
			if _, err := os.Stat(flags.file); err == nil {
				return NotJudged{problem.New("%s already exists", flags.file).ToDo("remove it, or name another file with -f")}
			}
			config := NewConfig()
			err := absolute(&sample, &permissions)
			for i := range crds {
				err = errors.Join(err, absolute(&crds[i]))
			}
			config.Manifests, config.Samples, config.Permissions = crds, []string{sample}, permissions
			if err != nil {
				return NotJudged{err}
			}
			options, err := flags.options(command.Context(), args)
			if err != nil {
				return NotJudged{err}
			}
			options.Config = config
			folder, err := filepath.Abs(filepath.Dir(flags.file))
			if err != nil {
				return NotJudged{err}
			}
			text, err := Init(command.Context(), options, folder)
			if err == nil {
				err = os.WriteFile(flags.file, []byte(text), 0o644)
			}
			if err != nil {
				return NotJudged{err}
			}
			fmt.Fprintf(command.OutOrStdout(), "Wrote %s. Read it, correct it, and then run: %s -f %s -- %s\n", flags.file, host.Call, flags.file, strings.Join(args, " "))
			return nil
		},
	}
	flags.add(command)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "the file to write")
	command.Flags().StringSliceVar(&crds, "crd", nil, "a file with a CRD, or with other objects that the operator needs")
	command.Flags().StringVar(&sample, "sample", "", "a file with one object that the operator manages")
	command.Flags().StringVar(&permissions, "permissions", "", "a file with the operator's Roles (without it, "+
		"the operator may do everything)")
	return command
}

func newExplainCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CHECK | judge.yaml]",
		Short: "Say what a check does and why, or describe judge.yaml",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return Explain(command.OutOrStdout(), strings.Join(args, ""))
		},
	}
}
