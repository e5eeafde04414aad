package judge

// The judge's command line. `workshop judge` and scripts/judge share it.

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
	// Capstone finds the program that a learner has written in an exercise, or its solution. It may
	// be nil.
	Capstone func(ctx context.Context, name string, solution bool) (Capstone, error)
}

// Capstone is a program that a learner has written.
type Capstone struct {
	File, Binary string // its judge.yaml, and the program
	// Record is called when all checks have run, and may be nil.
	Record func(Report) error
}

// NotJudged ends the command with exit status 2.
type NotJudged struct{ error }

func (n NotJudged) Unwrap() error { return n.error }

// flags are those of judge, and of judge init.
type flags struct {
	file, kubeconfig, from        string
	output, html, junit, baseline string
	yes, solution, lens           bool
	only                          []string
	parallel                      int
}

// Command returns the judge's command. If there are findings, its error is problem.ErrReported. If
// there are none but something couldn't be judged, or if the judge fails, the error is NotJudged.
func Command(host Host) *cobra.Command {
	var flags flags
	command := &cobra.Command{
		Use:   "judge [-f FILE] -- OPERATOR [ARG...]",
		Short: "Judge any operator by the course's contract",
		Long: `Judge runs an operator on the cluster, behind the fault proxy. It checks whether the operator keeps the
course's promises and prints a report card. The operator is your own program, unchanged. judge.yaml says what it
manages, and "judge init" writes that file.

Each check has its own namespace, ServiceAccount and process. In the operator's arguments, the judge replaces
{kubeconfig} with the path of a kubeconfig, {namespace} with the only namespace to act on, and {metrics} and {probes}
with free ports. With webhooks, there are two more: see "judge explain judge.yaml". If neither an argument nor env has
{namespace}, the checks run one after another.

The exit status is 0 if each finding is in the baseline, 1 if there are new findings, and 2 if there are none but
something couldn't be judged, or if the judge itself fails.`,
		Example: strings.ReplaceAll(`  CALL -f judge.yaml -- ./my-operator
  CALL --only quiet,drift -- ./my-operator
  CALL --only upgrade --from ./my-operator-v1 -- ./my-operator
  CALL --lens -- ./my-operator
  CALL --html report.html --junit report.xml -- ./my-operator`, "CALL", host.Call),
		Args: func(command *cobra.Command, args []string) error {
			if host.namesCapstone(command, args) {
				return nil
			}
			return needsOperator(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			report, err := flags.judge(command, host, args)
			switch {
			case err != nil:
				return NotJudged{err}
			case report.Status() == 1:
				return problem.ErrReported
			case report.Status() == 2:
				return NotJudged{problem.ErrReported}
			}
			return nil
		},
	}
	flags.add(command, host)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "what the operator manages")
	command.Flags().StringSliceVar(&flags.only, "only", nil, `run only these checks ("judge explain" lists them)`)
	command.Flags().IntVar(&flags.parallel, "parallel", 0,
		"how many checks run at the same time, if {namespace} is an argument (default: two for each processor)")
	command.Flags().StringVar(&flags.from, "from", "",
		"an older version of the operator, for the check upgrade: it gets the same arguments")
	command.Flags().StringVarP(&flags.output, "output", "o", "card", "what to print: card or json")
	command.Flags().StringVar(&flags.html, "html", "",
		"write a report with all evidence to this HTML file, and show findings in lens")
	command.Flags().BoolVar(&flags.lens, "lens", false, "don't judge: show the operator and its samples in lens")
	command.Flags().StringVar(&flags.junit, "junit", "", "write a JUnit report to this file")
	command.Flags().StringVar(&flags.baseline, "baseline", "", "an earlier JSON report, whose findings don't count")
	command.MarkFlagsMutuallyExclusive("lens", "html")
	if host.Capstone != nil {
		command.Use += " | judge NN/K [-- ARG...]"
		command.Long += `

"judge 03/9" judges the program that you wrote in that capstone, with the capstone's own judge.yaml. With --solution, it
judges the course's solution instead, so that you can compare the two reports.`
		command.Example += "\n  " + host.Call + " 03/9"
		command.Flags().BoolVar(&flags.solution, "solution", false, "judge a capstone's solution instead of your program")
	}
	command.AddCommand(newInitCommand(host), newExplainCommand())
	return command
}

// add adds the flags that say where to judge.
func (f *flags) add(command *cobra.Command, host Host) {
	usage := "judge on the cluster of this kubeconfig's current context"
	if host.Cluster != nil {
		usage += " (default: the workshop's own cluster)"
	}
	command.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", usage)
	command.Flags().BoolVar(&f.yes, "yes", false, "the cluster of --kubeconfig is disposable")
	if host.Cluster == nil {
		_ = command.MarkFlagRequired("kubeconfig")
	}
}

// namesCapstone reports whether the arguments name an exercise, and not an operator, which comes
// after --.
func (h Host) namesCapstone(command *cobra.Command, args []string) bool {
	dash := command.ArgsLenAtDash()
	isAlone := dash == 1 || dash < 0 && len(args) == 1
	return h.Capstone != nil && isAlone && strings.Contains(args[0], "/")
}

func needsOperator(command *cobra.Command, args []string) error {
	if command.ArgsLenAtDash() != 0 || len(args) == 0 {
		return fmt.Errorf("%s needs the operator's command after --, such as -- ./my-operator --kubeconfig {kubeconfig}",
			command.Name())
	}
	return nil
}

// judge judges an operator or a capstone, and writes the reports.
func (f *flags) judge(command *cobra.Command, host Host, args []string) (report Report, err error) {
	if f.output != "card" && f.output != "json" {
		return report, problem.New("-o %s: there is no such output", f.output).
			ToDo("choose card or json; --html and --junit write files")
	}
	var capstone Capstone
	if host.namesCapstone(command, args) {
		if command.Flags().Changed("file") {
			return report, problem.New("-f can't be used with a capstone, which has its own judge.yaml").
				ToDo("leave out -f, or name an operator after --")
		}
		if capstone, err = host.Capstone(command.Context(), args[0], f.solution); err != nil {
			return report, err
		}
		f.file, args[0] = capstone.File, capstone.Binary
	}
	config, err := Read(f.file)
	if err != nil {
		return report, err
	}
	options, err := f.options(command.Context(), host, config, args)
	if err != nil {
		return report, err
	}
	if options.Checks, err = Find(f.only...); err != nil {
		return report, err
	}
	if f.lens {
		return report, showLive(command, options)
	}
	var baseline Report
	if f.baseline != "" {
		if baseline, err = ReadReport(f.baseline); err != nil {
			return report, err
		}
	}
	report.Operator = filepath.Base(args[0])
	step := ui.New(os.Stderr).Start("judging " + report.Operator)
	options.Record = f.html != ""
	options.Progress = func(done, all int) { step.Update("%d of %d checks", done, all) }
	report.Results, err = Run(command.Context(), options)
	step.Drop()
	if report.Results == nil {
		return report, err
	}
	report.Compare(baseline)
	err = errors.Join(f.write(command.OutOrStdout(), report), err) // if it was interrupted, it has a report, too
	if isWhole := len(f.only) == 0 && f.baseline == ""; err == nil && isWhole && capstone.Record != nil {
		err = capstone.Record(report)
	}
	return report, err
}

// options finds the operator and the cluster.
func (f *flags) options(ctx context.Context, host Host, config *Config, args []string) (o Options, err error) {
	binary, err := programAt(args[0])
	if err == nil && f.from != "" {
		config.From, err = programAt(f.from)
	}
	if err != nil {
		return o, err
	}
	target, err := f.target(ctx, host)
	return Options{
		Config: config, Command: append([]string{binary}, args[1:]...), Target: target, Parallel: f.parallel,
	}, err
}

// programAt returns the absolute path of a program.
func programAt(name string) (string, error) {
	binary, err := exec.LookPath(name)
	if err != nil {
		return "", problem.New("the operator %s can't be run", name).
			ToDo("build it, and name its binary after --, or that of its older version after --from").Because(err)
	}
	return filepath.Abs(binary)
}

func (f *flags) target(ctx context.Context, host Host) (*rest.Config, error) {
	if f.kubeconfig == "" {
		return host.Cluster(ctx)
	}
	target, err := clientcmd.BuildConfigFromFlags("", f.kubeconfig)
	if err == nil && !f.yes {
		err = problem.New("the judge would apply CRDs to %s, create namespaces, and run the operator there", target.Host).
			ToDo("add --yes if the cluster is disposable")
	}
	return target, err
}

// write prints the report, and writes the files that were asked for.
func (f *flags) write(w io.Writer, report Report) error {
	if f.output == "json" {
		if err := report.WriteJSON(w); err != nil {
			return err
		}
	} else {
		report.WriteCard(w, ui.NewPalette(ui.Coloured(os.Stdout)))
	}
	return errors.Join(toFile(f.html, report.WriteHTML), toFile(f.junit, report.WriteJUnit))
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

func newInitCommand(host Host) *cobra.Command {
	var flags flags
	config := NewConfig()
	command := &cobra.Command{
		Use:   "init --crd FILE --sample FILE -- OPERATOR [ARG...]",
		Short: "Write a judge.yaml by watching what the operator does",
		Long: `Init runs the operator with the sample. It finds out which objects the operator creates, which condition
becomes True, and which fields of these objects follow the fields of the sample. It writes all of this to judge.yaml.
Read that file and complete it.`,
		Example: "  " + host.Call + " init --crd crd.yaml --sample foo.yaml -- ./my-operator --kubeconfig {kubeconfig}",
		Args:    needsOperator,
		RunE: func(command *cobra.Command, args []string) error {
			if _, err := os.Stat(flags.file); err == nil {
				return problem.New("%s already exists", flags.file).ToDo("remove it, or name another file with -f")
			}
			options, err := flags.options(command.Context(), host, config, args)
			if err != nil {
				return err
			}
			text, refused, err := Init(command.Context(), options, filepath.Dir(flags.file))
			if err == nil {
				err = os.WriteFile(flags.file, []byte(text), 0o644)
			}
			if err != nil {
				return err
			}
			if len(refused) > 0 {
				command.Printf("The API server has refused some requests of the operator:\n  %s\n", strings.Join(refused, "\n  "))
			}
			where := ""
			if flags.kubeconfig != "" {
				where = fmt.Sprintf(" --kubeconfig %s --yes", flags.kubeconfig)
			}
			command.Printf("Wrote %s. Read it, correct it, and then run: %s%s -f %s -- %s\n",
				flags.file, host.Call, where, flags.file, args[0])
			return nil
		},
	}
	flags.add(command, host)
	command.Flags().StringVarP(&flags.file, "file", "f", "judge.yaml", "the file to write")
	command.Flags().StringSliceVar(&config.Manifests, "crd", nil,
		"a file with a CRD, or with other objects that the operator needs")
	command.Flags().BoolVar(&config.InCluster, "in-cluster", false, "the operator finds the API server as in a Pod (Linux only)")
	command.Flags().StringSliceVar(&config.Samples, "sample", nil, "a file with one object that the operator manages")
	command.MarkFlagsRequiredTogether("crd", "sample")
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
				command.Print(Reference)
				return nil
			}
			checks, err := Find(args...)
			if err != nil {
				return err
			}
			for _, c := range checks {
				if len(args) == 0 {
					command.Printf("%-26s %s\n", c.Name, c.Promise)
				} else {
					command.Printf("%s: %s\n\n%s\n\nIf the check finds something: %s\n\nThe course teaches this in %s.\n",
						c.Name, c.Promise, c.Why, c.Fix, c.Lesson)
				}
			}
			return nil
		},
	}
}
