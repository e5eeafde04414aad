package main

// workshop judge: package judge on the workshop's cluster, and for capstones, the exercises in which
// the learner writes a program from an empty file.

import (
	"context"

	"github.com/spf13/cobra"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/program"
)

func newJudgeCommand() *cobra.Command {
	return judge.Command(judge.Host{
		Call: "./scripts/workshop judge",
		Cluster: func(ctx context.Context) (*rest.Config, error) {
			c, err := ensureUp(ctx)
			if err != nil {
				return nil, err
			}
			return cluster.RESTConfig(c)
		},
		Capstone: findCapstone,
	})
}

// findCapstone builds the program of a capstone, or its solution, whose result isn't recorded.
func findCapstone(ctx context.Context, name string, solution bool) (found judge.Capstone, err error) {
	e, err := exercises.FindCapstone(theRoot(), name)
	if err != nil {
		return found, err
	}
	p, err := program.OfExercise(e.Chapter, e.Folder)
	if err != nil {
		return found, err
	}
	found.File = e.File(exercises.JudgeFile)
	if solution {
		p = p.Solution()
	} else {
		found.Record = func(report judge.Report) error {
			return exercises.RecordJudged(theRoot(), e, report.Status() == 0)
		}
	}
	found.Binary, err = buildProgram(ctx, p)
	return found, err
}
