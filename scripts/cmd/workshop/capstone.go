package main

// Judging capstones, the exercises in which the learner writes a program from an empty file.

import (
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/problem"
)

// namesCapstone reports whether the arguments of judge name an exercise, and not an operator, which
// comes after --.
func namesCapstone(command *cobra.Command, args []string) bool {
	return command.ArgsLenAtDash() != 0 && len(args) > 0 && isExercise(args[0])
}

func needsOperatorOrCapstone(command *cobra.Command, args []string) error {
	if !namesCapstone(command, args) {
		return needsOperator(command, args)
	}
	if dash := command.ArgsLenAtDash(); len(args) > 1 && dash != 1 {
		return errors.New("name one capstone; the program's own flags come after --")
	}
	return nil
}

// judgeCapstone judges the program of a capstone. If all checks ran, it records the result.
func judgeCapstone(command *cobra.Command, flags judgeFlags, args []string) (report judge.Report, err error) {
	if command.Flags().Changed("file") {
		return report, problem.New("-f doesn't go with a capstone, which has a judge.yaml of its own").ToDo("leave out -f, or name an operator after --")
	}
	e, err := exercises.FindCapstone(theRoot(), args[0])
	if err != nil {
		return report, err
	}
	p, err := programOf(e)
	if err != nil {
		return report, err
	}
	if flags.solution {
		p = p.Solution()
	}
	code := e.Code() // the learner may change it before the judge has finished
	binary, err := buildProgram(command.Context(), p)
	if err != nil {
		return report, err
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return report, err
	}
	flags.file = e.File(exercises.JudgeFile)
	report, err = runJudge(command, flags, append([]string{binary}, args[1:]...))
	if err != nil || flags.solution || len(flags.only) > 0 {
		return report, err
	}
	if report.Status() != 0 {
		code = ""
	}
	return report, exercises.RecordJudged(command.Context(), theRoot(), e, code)
}
