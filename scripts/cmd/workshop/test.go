package main

// workshop test and docs. Package suite runs the tests.

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/suite"
	"example.com/operators/scripts/internal/ui"
)

func newTestCommand() *cobra.Command {
	var only []string
	var full bool
	command := &cobra.Command{
		Use:   "test [CHAPTER...|CHAPTER/K...]",
		Short: "Run what CI runs, or the tests of a chapter or a promise",
		Long: `Test checks, within minutes, what no change may break: the repository's layout, the links and code in its
texts, what vet and staticcheck report, the chapters' own tests, and that the judge finds bugs and accuses no correct
operator. It also runs the behavior contract against the chapters' programs: all promises while nothing goes wrong,
and the one fault that each chapter is about.

With chapters, it checks everything about them: all faults, the program for TDSets, the exercises (they fail as given,
pass as solved, and reject each wrong answer), the commands in the texts, data races (from chapter 03 on), and what
the judge says about the program. The name "scripts" stands for everything outside the chapters: the workshop's tools
and the other texts. With --full, it checks all of this, which takes hours. With exercises, it only checks these.

It creates clusters of its own ("test", "docs") and removes them unless a test fails. It doesn't touch yours. A
skipped test counts as a failure, and a failed test isn't run again.

With --only it just runs the tests of some promises (such as B4, or T2 of TDSets), faults (such as F1) or other checks
of the judge (such as quiet) against the chapters' programs, and reports which held. A promise that holds takes
seconds. For one that doesn't hold, it waits up to a minute, or two minutes under faults. scripts/acceptance/MATRIX.md
says what they are, and which chapter keeps which; "judge explain" lists the checks.

With --on kind it runs the tests that need containers, on a kind cluster named "test": the contract from outside and
with the programs in the cluster, tours, deploy, and the end-to-end tests of 06 and 07. That needs docker.`,
		Example: `  ./scripts/workshop test
  ./scripts/workshop test 01
  ./scripts/workshop test 01/1
  ./scripts/workshop test scripts
  ./scripts/workshop test --full
  ./scripts/workshop test 01 --only B4
  ./scripts/workshop test 07 --only T2
  ./scripts/workshop test 02 03 --only B11,F4
  ./scripts/workshop test --on kind`,
		RunE: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("only") {
				return testOnly(command, args, only)
			}
			if slices.ContainsFunc(args, isExercise) {
				return testExercises(command, args)
			}
			s, err := newSuite(command, args, theNodes())
			if err != nil {
				return err
			}
			s.Full = full || len(args) > 0
			if theNodes() == cluster.Containers {
				return s.OnKind(command.Context())
			}
			return s.Run(command.Context())
		},
	}
	command.Flags().StringSliceVar(&only, "only", nil,
		"run just the tests of these promises, faults and checks, such as B4,F5,quiet")
	command.Flags().BoolVar(&full, "full", false, "prove everything, about all chapters and the tools")
	command.MarkFlagsMutuallyExclusive("only", "full")
	return command
}

// testExercises proves only the exercises that args name.
func testExercises(command *cobra.Command, args []string) error {
	var named []exercises.Exercise
	var numbers []string
	for _, arg := range args {
		e, err := exercises.FindOne(theRoot(), arg)
		if err != nil {
			return err
		}
		named, numbers = append(named, e), append(numbers, e.Chapter.Number())
	}
	slices.Sort(numbers)
	s, err := newSuite(command, slices.Compact(numbers), cluster.Simulated)
	if err != nil {
		return err
	}
	s.Exercises = named
	return s.Prove(command.Context())
}

// testOnly runs the tests of these promises, faults and checks, and prints which held.
func testOnly(command *cobra.Command, args, names []string) error {
	selected, err := contract.Find(names...)
	if err != nil {
		return err
	}
	s, err := newSuite(command, args, cluster.Simulated)
	if err != nil {
		return err
	}
	held, err := s.Only(command.Context(), selected, command.OutOrStdout())
	if err == nil && !held {
		return problem.ErrReported
	}
	return err
}

// noChapter is the argument that stands for what belongs to no chapter.
const noChapter = "scripts"

// newSuite builds what the nodes need. Without args, the suite covers everything.
func newSuite(command *cobra.Command, args []string, nodes cluster.Nodes) (*suite.Suite, error) {
	everything := len(args) == 0 || slices.Contains(args, noChapter)
	names := slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return arg == noChapter })
	var found []chapters.Chapter
	var err error
	if len(names) > 0 || len(args) == 0 {
		if found, err = chapters.Find(theRoot(), names...); err != nil {
			return nil, err
		}
	}
	show := ui.New(os.Stderr)
	if err := ensureBuilt(command.Context(), show, nodes); err != nil {
		return nil, err
	}
	return &suite.Suite{
		Root: theRoot(), UI: show, Out: command.OutOrStdout(), Chapters: found, Everything: everything,
	}, nil
}

func newDocsCommand() *cobra.Command {
	var check, write bool
	command := &cobra.Command{
		Use:   "docs --write | --check [CHAPTER...]",
		Short: "Check the texts, or update the code that they show",
		Long: `With --write, docs updates the code and the tables in the texts from their sources. With --check, it compares
them with the sources, checks links and headings, runs the commands in the texts, and compares their output with
the texts.`,
		Args: func(_ *cobra.Command, args []string) error {
			if write && len(args) > 0 {
				return errors.New("--write takes no chapter: it writes all texts")
			}
			return nil
		},
		RunE: func(command *cobra.Command, args []string) error {
			if write {
				return writeDocs(command)
			}
			s, err := newSuite(command, args, cluster.Simulated)
			if err != nil {
				return err
			}
			return s.Texts(command.Context())
		},
	}
	command.Flags().BoolVar(&check, "check", false, "check the texts")
	command.Flags().BoolVar(&write, "write", false, "update the code in the texts from the source")
	command.MarkFlagsOneRequired("check", "write")
	command.MarkFlagsMutuallyExclusive("check", "write")
	return command
}

func writeDocs(command *cobra.Command) error {
	files, err := docs.Files(theRoot())
	if err != nil {
		return err
	}
	for _, file := range files {
		changed, writeErr := docs.Write(theRoot(), file)
		if changed {
			command.Printf("%s: written\n", file)
		}
		err = errors.Join(err, writeErr)
	}
	return err
}
