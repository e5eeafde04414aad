package judge_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/apitest"
	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

// checksOfCapstones are the checks that TestCapstones runs, unless it judges everything.
var checksOfCapstones = []string{"converge", "mutations", "drift", "quiet", "taken-name", "permissions"}

// TestCapstones judges the solutions of the capstones of the chapters in -chapters. To judge all
// capstones, by all checks except cost, which takes a quarter of an hour:
//
//	TEST_KUBECONFIG=… go test ./internal/judge -run TestCapstones -timeout 60m -args -chapters all
func TestCapstones(t *testing.T) {
	target, _ := apitest.Cluster(t)
	root, err := filepath.Abs(testkit.Repository())
	if err != nil {
		t.Fatal(err)
	}
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	selected := checksOfCapstones
	if *judged == "all" {
		selected = nil
	}
	checks, err := judge.Find(selected...)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		if !e.IsCapstone() || *judged != "all" && !slices.Contains(strings.Split(*judged, ","), e.Chapter.Number()) {
			continue
		}
		t.Run(e.Name(), func(t *testing.T) {
			p, err := program.OfChapter(e.Chapter)
			if err != nil {
				t.Fatal(err)
			}
			if p, err = p.InExercise(e.Folder); err != nil {
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
			config.Cost = nil
			config.Limits.Converge.Duration, config.Limits.Recover.Duration = limitOfCorrect, limitOfCorrect
			results, err := judge.Run(t.Context(), judge.Options{
				Config: config, Command: []string{binary}, Target: target, Checks: checks, Parallel: 8,
				Kubectl: kubectl.Kubectl{Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")},
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, result := range results {
				if result.Verdict != judge.Passed && result.Verdict != judge.Skipped {
					t.Errorf("%s: %s %s %+v\n%s", result.Check, result.Verdict, result.Why, result.Findings, result.Log)
				}
			}
		})
	}
}
