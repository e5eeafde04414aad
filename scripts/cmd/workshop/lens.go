package main

// workshop lens shows what happens inside one or two chapters' programs.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/deploy"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/lens"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
)

// lensFlags are those of lens.
type lensFlags struct {
	tdset, noOpen, look  bool
	record, replay, html string
}

func newLensCommand() *cobra.Command {
	var flags lensFlags
	command := &cobra.Command{
		Use:   "lens [CHAPTER[/K] [CHAPTER]]",
		Short: "See what happens inside a chapter's program, in the browser",
		Long: `Lens runs a chapter's program behind the fault proxy, and opens a page that shows everything on one time axis: what you do, each
version of each object, the watch events, the queue, the reconcile calls and the requests. Click an item to highlight everything
that caused it and everything it caused. Buttons create and change objects, inject faults, and kill the program.

With two chapters, both programs run, each in its own namespace, and every button acts on both.

A ticket (an exercise that begins with a symptom) has a program of its own: lens 03/7.

With --look, lens plays a scenario that shows what the chapter is about, and then stops the time axis at the interesting moment.

The page is served on this machine only, and its address contains a secret.`,
		Example: `  ./scripts/workshop lens 03
  ./scripts/workshop lens 01 03
  ./scripts/workshop lens 03 --look
  ./scripts/workshop lens 03 --record lens.jsonl
  ./scripts/workshop lens --replay lens.jsonl
  ./scripts/workshop lens --replay lens.jsonl --html lens.html`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			if flags.replay != "" {
				return replay(command, flags)
			}
			if len(args) == 0 {
				args = []string{"03"}
			}
			look, err := theLook(flags, args)
			if err != nil {
				return err
			}
			shown, err := programsIn(args, flags.tdset)
			if err != nil {
				return err
			}
			return runLens(command, flags, shown, look)
		},
	}
	addTDSetFlag(command, &flags.tdset)
	command.Flags().BoolVar(&flags.noOpen, "no-open", false, "only print the page's address, and don't open a browser")
	command.Flags().BoolVar(&flags.look, "look", false, "play the chapter's prepared scenario, and stop at the interesting moment")
	command.Flags().StringVar(&flags.record, "record", "", "also write everything to this file")
	command.Flags().StringVar(&flags.replay, "replay", "", "show this recording instead of running a program")
	command.Flags().StringVar(&flags.html, "html", "", "with --replay: write a single page with the recording to this file, for a bug report or a lecture")
	return command
}

// demoInLens plays a tour of the chapter's program, or of the first chapter's.
func demoInLens(command *cobra.Command, args []string, flags lensFlags) error {
	if len(args) == 0 {
		args = []string{"01"}
	}
	shown, err := programsIn(args, flags.tdset)
	if err != nil {
		return err
	}
	tour := lens.Tour(shown[0].program.Kind)
	return runLens(command, flags, shown, &tour)
}

// exerciseInLens shows the learner's program beside the solution while both get the same tour.
func exerciseInLens(command *cobra.Command, exercise exercises.Exercise, noOpen bool) error {
	chapter, _ := exercise.Chapter.TDSet()
	solution, err := program.OfChapter(chapter)
	if err != nil {
		return err
	}
	tour := lens.Tour(solution.Kind)
	tour.Title = "your program, and the solution"
	return runLens(command, lensFlags{noOpen: noOpen}, []inLens{{"yours", chapter, solution.AsLearner()}, {"solution", chapter, solution}}, &tour)
}

// hasProgram returns an error if an exercise has no program that lens could run.
func hasProgram(exercise exercises.Exercise) error {
	chapter, found := exercise.Chapter.TDSet()
	if found && chapter.Dir == exercise.Dir() {
		return nil
	}
	return problem.New("the tests of exercise %s call functions and start no program, so lens has nothing to show", exercise.Name()).
		ToDo("use --lens with the exercises in which you write a whole program: 01/5 to 06/5")
}

// inLens is a program for lens to run, and its name on the page.
type inLens struct {
	name    string
	chapter chapters.Chapter
	program program.Program
}

// programsIn returns the programs that args name. With tdset, these are the chapters' programs for
// TDSets.
func programsIn(args []string, tdset bool) ([]inLens, error) {
	var all []inLens
	for _, arg := range args {
		chapter, p, err := theProgram(arg, tdset)
		if err != nil {
			return nil, err
		}
		if p.Kind != chapters.Foo && p.Kind != chapters.TDSet {
			return nil, problem.New("lens shows only programs for Foos and TDSets, and that of %s manages %ss", arg, p.Kind).ToDo("./scripts/workshop run %s", arg)
		}
		if len(all) > 0 && all[0].program.Kind != p.Kind {
			return nil, problem.New("the programs of %s and %s manage different kinds", args[0], args[1]).ToDo("compare two programs for Foos, or two for TDSets")
		}
		// The name is the chapter's number. For a ticket, its folder's name follows.
		all = append(all, inLens{chapter.Number() + strings.TrimPrefix(strings.TrimSuffix(p.Name, "-tdset"), chapter.Name), chapter, p})
	}
	return all, nil
}

// runLens shows these programs, and plays a look if there is one.
func runLens(command *cobra.Command, flags lensFlags, programs []inLens, look *lens.Look) (err error) {
	ctx := command.Context()
	if flags.html != "" {
		return problem.New("--html needs a recording").ToDo("make one with --record FILE, and then use --replay FILE together with --html")
	}
	options := lens.Options{Namespaces: "lens-"}
	var file io.Writer
	if flags.record != "" {
		recording, err := os.OpenFile(flags.record, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		defer recording.Close()
		file = recording
	}
	options.Recorder = lens.NewRecorder(file)
	c, err := ensureUp(ctx)
	if err != nil {
		return err
	}
	if options.Target, err = cluster.RESTConfig(c); err != nil {
		return err
	}
	options.Target.QPS = -1
	options.AuditLog, options.Kubectl, options.CanCall = c.AuditLog(), kubectlOn(c), c.Nodes() != cluster.Containers
	for _, p := range programs {
		if err := deploy.CheckOthers(ctx, theRoot(), c, kubectlOn(c), p.program.Kind, "", os.Stderr); err != nil {
			return err
		}
		if err := kubectlOn(c).ApplyCRD(ctx, p.program.CRD); err != nil {
			return err
		}
		if options.Sample, err = readSample(p.chapter); err != nil {
			return err
		}
		binary, err := buildProgram(ctx, p.program)
		if err != nil {
			return err
		}
		options.Programs = append(options.Programs, lens.Program{Name: p.name, Built: p.program, Binary: binary, Flags: logFlags(p.chapter)})
	}
	if options.Dir, err = os.MkdirTemp(filepath.Join(theRoot(), ".workshop"), "lens-"); err != nil {
		return err
	}
	defer os.RemoveAll(options.Dir)
	session, err := lens.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close(), options.Recorder.Err()) }()
	server, err := lens.Serve(options.Recorder, session)
	if err != nil {
		return err
	}
	defer server.Close()
	open(command, flags, server)
	if look != nil {
		if err := session.Play(ctx, *look); err != nil && ctx.Err() == nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

// theLook returns the look to play, or nil.
func theLook(flags lensFlags, args []string) (*lens.Look, error) {
	if !flags.look {
		return nil, nil
	}
	if len(args) != 1 || flags.tdset {
		return nil, problem.New("a look shows exactly one chapter's own program").ToDo("name one chapter, with --look and without --tdset")
	}
	chapter, err := oneChapter(args)
	if err != nil {
		return nil, err
	}
	look, found := lens.LookOf(chapter)
	if !found {
		return nil, problem.New("chapter %s has no look", chapter.Name).ToDo("leave out --look")
	}
	return &look, nil
}

// logFlags make a program log what lens needs.
func logFlags(chapter chapters.Chapter) []string {
	if chapter.Number() < "05" {
		return []string{"-v=4"}
	}
	return []string{"--zap-log-level=5", "--zap-time-encoding=rfc3339nano"}
}

func readSample(chapter chapters.Chapter) (*unstructured.Unstructured, error) {
	content, err := os.ReadFile(chapter.Parts().Sample)
	if err != nil {
		return nil, err
	}
	var sample unstructured.Unstructured
	if err := yaml.Unmarshal(content, &sample.Object); err != nil {
		return nil, fmt.Errorf("%s: %w", chapter.Parts().Sample, err)
	}
	return &sample, nil
}

func replay(command *cobra.Command, flags lensFlags) error {
	file, err := os.Open(flags.replay)
	if err != nil {
		return err
	}
	defer file.Close()
	items, err := lens.ReadRecording(file)
	if err != nil {
		return fmt.Errorf("%s: %w", flags.replay, err)
	}
	if flags.html != "" {
		return toFile(flags.html, func(w io.Writer) error { return lens.WriteHTML(w, filepath.Base(flags.replay), items) })
	}
	server, err := lens.Serve(lens.Replay(items), nil)
	if err != nil {
		return err
	}
	defer server.Close()
	open(command, flags, server)
	<-command.Context().Done()
	return nil
}

// open tells the user where the page is, and opens it.
func open(command *cobra.Command, flags lensFlags, server *lens.Server) {
	fmt.Fprintf(command.OutOrStdout(), "Lens: %s\nPress Ctrl-C to stop it.\n", server.URL())
	if !flags.noOpen {
		openBrowser(command.Context(), server.URL())
	}
}

// openBrowser opens a page. If that fails, the address is in the terminal.
func openBrowser(ctx context.Context, url string) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	_ = exec.CommandContext(ctx, opener, url).Start() // there may be none
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
