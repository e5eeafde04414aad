package acceptance

// The capstones' solutions, which the judge checks like any operator.

import (
	"testing"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/program"
)

// capstoneChecks are what sets a correct operator apart from one that only works. A learner's own
// program is judged by all checks: ./scripts/workshop judge 03/9.
var capstoneChecks = []string{"converge", "mutations", "drift", "quiet", "taken-name", "permissions"}

func TestCapstones(t *testing.T) {
	if kindNode() != "" {
		return
	}
	env := testEnvironment(t)
	checks, err := judge.Find(capstoneChecks...)
	if err != nil {
		t.Fatal(err)
	}
	for _, chapter := range env.chapters {
		all, err := exercises.In(chapter)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range all {
			if !e.IsCapstone() {
				continue
			}
			t.Run(e.Name(), func(t *testing.T) {
				p, err := program.OfExercise(e.Chapter, e.Folder)
				if err != nil {
					t.Fatal(err)
				}
				binary, err := p.Solution().Build(t.Context(), t.TempDir())
				if err != nil {
					t.Fatal(err)
				}
				config, err := judge.Read(e.File(exercises.JudgeFile))
				if err != nil {
					t.Fatal(err)
				}
				config.Limits.Converge, config.Limits.Recover = env.timeout, env.timeout
				results, err := judge.Run(t.Context(), judge.Options{
					Config: config, Command: []string{binary}, Target: env.config, Checks: checks, Parallel: 8,
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, result := range results {
					if result.Verdict != judge.Passed {
						t.Errorf("%s: %s %s %+v\n%s", result.Check.Name, result.Verdict, result.Why, result.Findings, result.Log)
					}
				}
			})
		}
	}
}
