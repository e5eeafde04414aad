package judge_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/operators/scripts/internal/apitest"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/judge"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/testkit"
)

var (
	judged = flag.String("chapters", "03", "judge the programs of these chapters, or of all")
	times  = flag.Int("times", 1, "judge each of them this often")
	costly = flag.Bool("costly", false, "run the check cost as well, which takes a minute for each chapter")
	update = flag.Bool("update", false, "write the reports; needs -costly")
)

// TestChapters judges the chapters' programs. Next to its judge.yaml, each chapter has a report.txt
// with the verdict of each check. To judge all seven, which takes a quarter of an hour:
//
//	TEST_KUBECONFIG=… go test ./internal/judge -run TestChapters -timeout 60m -args -chapters all -costly
func TestChapters(t *testing.T) {
	target, _ := apitest.Cluster(t)
	root, err := filepath.Abs(testkit.Repository())
	if err != nil {
		t.Fatal(err)
	}
	all, err := chapters.All(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, chapter := range all {
		if *judged != "all" && !slices.Contains(strings.Split(*judged, ","), chapter.Number()) {
			continue
		}
		t.Run(chapter.Name, func(t *testing.T) {
			p, err := program.OfChapter(chapter)
			if err != nil {
				t.Fatal(err)
			}
			binary, err := p.Build(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			folder := filepath.Join(root, "scripts", "judge", "chapters", chapter.Name)
			config, err := judge.Read(filepath.Join(folder, "judge.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			if !*costly {
				config.Cost = nil
			}
			config.Limits.Converge.Duration = limitOfCorrect
			if chapter.Number() >= "03" { // 01 and 02 don't recover from each fault, which takes all of the limit
				config.Limits.Recover.Duration = limitOfCorrect
			}
			for range *times {
				results, err := judge.Run(t.Context(), judge.Options{
					Config: config, Command: []string{binary}, Target: target, Checks: judge.All(), Parallel: 8,
					Kubectl: kubectl.Kubectl{Binary: filepath.Join(root, ".workshop", "bin", "kubectl"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")},
				})
				if err != nil {
					t.Fatal(err)
				}
				checkReport(t, filepath.Join(folder, "report.txt"), chapter, results)
			}
		})
	}
}

// checkReport compares the verdicts with those in the file, except for checks that were left out.
func checkReport(t *testing.T, file string, chapter chapters.Chapter, results []judge.Result) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil && !*update {
		t.Fatal(err)
	}
	want := strings.Split(strings.TrimSpace(string(content)), "\n")
	var got []string
	for i, result := range results {
		if result.Check == "cost" && !*costly && i < len(want) {
			got = append(got, want[i])
			continue
		}
		line := fmt.Sprintf("%-8s %s", result.Verdict, result.Check)
		if result.Why != "" {
			line += ": " + result.Why
		}
		why := byChance[chapter.Number()][result.Check]
		switch {
		case why != "" && (result.Verdict == judge.Found || result.Verdict == judge.Passed):
			line = fmt.Sprintf("%-8s %s: %s", "varies", result.Check, why)
		case result.Verdict == judge.Found:
			line += ": " + declared(t, chapter, result)
		}
		got = append(got, line)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("%s (-want, +got):\n%s", file, difference)
	}
}

// notTheContracts says why a chapter doesn't keep a promise that only the judge knows.
var notTheContracts = map[string]map[string]string{
	"01": {"reads": "it reads from the API server each time: always fresh, but one request each"},
}

// byChance says why a run finds this or doesn't, depending on the moment at which the fault strikes.
var byChance = map[string]map[string]string{
	"01": {"F1": cutWrite},
	"02": {"F1": cutWrite},
}

const cutWrite = "a cut also ends the writes in flight, if there are any, and a failed write isn't retried until something else happens to the Foo"

// declared returns why the chapter doesn't keep this promise. If nobody says so, the findings are
// errors of the test.
func declared(t *testing.T, chapter chapters.Chapter, result judge.Result) string {
	t.Helper()
	why := contract.Of(chapter.Kind()).WhyNotHeld(chapter, result.Check)
	if why == "" {
		why = notTheContracts[chapter.Number()][result.Check]
	}
	if why == "" {
		for _, finding := range result.Findings {
			t.Errorf("%s: %s %+v\n%s", result.Check, finding.What, finding.Evidence, result.Log)
		}
		return "undeclared"
	}
	return why
}

// The judge's faults are the contract's.
func TestFaultsHaveTheContractsNames(t *testing.T) {
	t.Parallel()
	var got, want []string
	for _, check := range judge.All() {
		if strings.HasPrefix(check.Name, "F") {
			got = append(got, check.Name)
		}
	}
	for _, fault := range contract.Faults() {
		want = append(want, fault.Name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if difference := cmp.Diff(want, got); difference != "" {
		t.Errorf("(-contract, +judge):\n%s", difference)
	}
}
