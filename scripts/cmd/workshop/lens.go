package main

// workshop lens shows what happens inside one or two chapters' programs.

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/lens"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/program"
)

// lensFlags are those of lens.
type lensFlags struct {
	tdset, noOpen, look bool
	html                string
}

func newLensCommand() *cobra.Command {
	var flags lensFlags
	command := &cobra.Command{
		Use:   "lens [CHAPTER[/K] [CHAPTER]]",
		Short: "See what happens inside a chapter's program, in the browser",
		Long: `Lens runs a chapter's program behind the fault proxy, and opens a page that shows everything on one time axis:
what you do, each version of each object, the watch events, the queue, the reconcile calls and the requests. Click an
item to highlight everything that caused it and everything it caused. Buttons create and change objects, inject faults,
and kill the program. The page is served on this machine only, and its address contains a secret.

With two chapters, both programs run, each in its own namespace, and every button acts on both. A ticket (an exercise
that begins with a symptom) has a program of its own: lens 03/7. In the exercises where you write a whole program
(01/5 to 06/5), lens shows yours next to the solution, while both get the same tour: lens 01/5.

With --look, lens plays a scenario that shows what the chapter is about, and then stops the time axis at the
interesting moment. With --html, it also writes a page with everything when you press Ctrl-C, which needs neither a
server nor a network.`,
		Example: `  ./scripts/workshop lens 03
  ./scripts/workshop lens 01 03
  ./scripts/workshop lens 03 --look
  ./scripts/workshop lens 03 --html lens.html`,
		Args: cobra.MaximumNArgs(2),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"03"}
			}
			if len(args) == 1 && isExercise(args[0]) {
				e, err := exercises.FindOne(theRoot(), args[0])
				if err != nil {
					return err
				}
				if chapter, found := e.Chapter.TDSet(); found && chapter.Dir == e.Dir() {
					return besideSolution(command, chapter, flags)
				}
			}
			programs, err := programsIn(args, flags.tdset)
			if err != nil {
				return err
			}
			if !flags.look {
				return runLens(command, flags, programs, nil)
			}
			if len(args) != 1 || flags.tdset || isExercise(args[0]) {
				return problem.New("a look shows exactly one chapter's own program").
					ToDo("name one chapter, with --look and without --tdset")
			}
			look := lens.LookOf(programs[0].Chapter)
			return runLens(command, flags, programs, &look)
		},
	}
	addTDSetFlag(command, &flags.tdset)
	command.Flags().BoolVar(&flags.noOpen, "no-open", false, "only print the page's address, and don't open a browser")
	command.Flags().BoolVar(&flags.look, "look", false, "play the chapter's prepared scenario")
	command.Flags().StringVar(&flags.html, "html", "", "at the end, write a page with everything to this file")
	return command
}

// besideSolution shows the learner's program of an exercise and the solution, while both get a tour.
func besideSolution(command *cobra.Command, exercise chapters.Chapter, flags lensFlags) error {
	solution, err := program.OfChapter(exercise)
	if err != nil {
		return err
	}
	tour := lens.Tour(solution.Kind)
	tour.Title = "your program, and the solution"
	both := []lens.Program{
		{Name: "yours", Chapter: exercise, Built: solution.AsLearner()},
		{Name: "solution", Chapter: exercise, Built: solution},
	}
	return runLens(command, flags, both, &tour)
}

// programsIn returns the programs that args name. With tdset, these are the chapters' programs for
// TDSets.
func programsIn(args []string, tdset bool) ([]lens.Program, error) {
	var all []lens.Program
	for _, arg := range args {
		chapter, p, err := theProgram(arg, tdset)
		if err != nil {
			return nil, err
		}
		isKnown := p.Kind == chapters.Foo || p.Kind == chapters.TDSet
		if !isKnown || len(all) > 0 && all[0].Built.Kind != p.Kind {
			return nil, problem.New("lens shows programs for Foos, or for TDSets, but that of %s manages %ss", arg, p.Kind).
				ToDo("choose one or two programs for Foos, or for TDSets; ./scripts/workshop run %s runs this one", arg)
		}
		// The name is the chapter's number. For a ticket, its folder's name follows.
		name := chapter.Number() + strings.TrimPrefix(strings.TrimSuffix(p.Name, "-tdset"), chapter.Name)
		all = append(all, lens.Program{Name: name, Chapter: chapter, Built: p})
	}
	return all, nil
}

// runLens shows these programs, and plays a look if there is one.
func runLens(command *cobra.Command, flags lensFlags, programs []lens.Program, look *lens.Look) (err error) {
	ctx := command.Context()
	options, err := lensOptions(ctx, programs)
	if err != nil {
		return err
	}
	defer os.RemoveAll(options.Dir)
	session, err := lens.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, session.Close()) }()
	server, err := lens.Serve(session.Recorder, session)
	if err != nil {
		return err
	}
	defer server.Close()
	command.Printf("Lens shows %s: %s\nPress Ctrl-C to stop it.\n", session.Controls().Title, server.URL())
	if !flags.noOpen {
		openBrowser(ctx, server.URL())
	}
	if look != nil {
		if err := session.Play(ctx, *look); err != nil && ctx.Err() == nil {
			return err
		}
	}
	<-ctx.Done()
	if flags.html == "" {
		return nil
	}
	file, err := os.Create(flags.html)
	if err != nil {
		return err
	}
	return errors.Join(lens.WriteHTML(file, session.Controls(), session.Recorder.All()), file.Close())
}

// lensOptions brings the cluster up, and builds the programs.
func lensOptions(ctx context.Context, programs []lens.Program) (lens.Options, error) {
	c, err := ensureUp(ctx)
	if err != nil {
		return lens.Options{}, err
	}
	options := lens.Options{
		Programs: programs, Namespaces: "lens-", AuditLog: c.AuditLog(),
		Kubectl: cluster.KubectlFor(theRoot(), c), CanCall: c.Nodes() != cluster.Containers,
	}
	if options.Target, err = cluster.RESTConfig(c); err != nil {
		return options, err
	}
	for i, p := range programs {
		if err := program.CheckOthers(ctx, c, options.Kubectl, p.Built.Kind, "", os.Stderr); err != nil {
			return options, err
		}
		if programs[i].Binary, err = buildProgram(ctx, p.Built); err != nil {
			return options, err
		}
	}
	options.Dir, err = os.MkdirTemp(filepath.Join(theRoot(), ".workshop"), "lens-")
	return options, err
}

// openBrowser opens a page. If that fails, the address is in the terminal.
func openBrowser(ctx context.Context, url string) {
	opener := "xdg-open"
	if runtime.GOOS == "darwin" {
		opener = "open"
	}
	_ = exec.CommandContext(ctx, opener, url).Start() // there may be none
}
