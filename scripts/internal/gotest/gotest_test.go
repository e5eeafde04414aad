package gotest

import (
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

// Each test runs the real go test on a small module.
func TestRun(t *testing.T) {
	for sentence, test := range map[string]struct {
		source  string
		passed  int
		problem string // part of a problem; "": there is none
	}{
		"tests and subtests that pass are counted": {
			source: "func TestA(t *testing.T) { t.Run(`b`, func(t *testing.T) {}) }",
			passed: 2,
		},
		"a test that fails is shown with what it printed": {
			source:  "func TestA(t *testing.T) { t.Error(`the reason`) }",
			problem: "the reason",
		},
		"a skipped test is a problem": {
			source:  "func TestA(t *testing.T) { t.Skip(`not today`) }",
			problem: "not today",
		},
		"a test file that doesn't build is a problem": {
			source:  "func TestA(t *testing.T) { undefined() }",
			problem: "undefined: undefined",
		},
		"a package that fails outside its tests is a problem": {
			source: "func TestA(t *testing.T) {}\n" +
				"func TestMain(m *testing.M) { m.Run(); println(`a leak`); os.Exit(1) }",
			passed:  1,
			problem: "a leak",
		},
		"a test that ends the run is a problem": {
			source:  "func TestA(t *testing.T) { println(`before`); os.Exit(3) }",
			problem: "before",
		},
		"a run without tests counts none": {
			source: "var _ testing.T",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			imports := "import \"testing\"\n"
			if strings.Contains(test.source, "os.") {
				imports += "import \"os\"\n"
			}
			testkit.Write(t, dir, map[string]string{
				"go.mod":    "module a\n\ngo 1.26\n",
				"a_test.go": "package a\n\n" + imports + test.source,
			})
			results, err := Run(t.Context(), Request{Dir: dir, Env: []string{"GOWORK=off"}, Args: []string{"./..."}})
			if err != nil {
				t.Fatal(err)
			}
			if passed := results.Passed(); passed != test.passed {
				t.Errorf("%d passed, want %d", passed, test.passed)
			}
			problems := strings.Join(results.Problems(), "\n")
			if (problems == "") != (test.problem == "") || !strings.Contains(problems, test.problem) {
				t.Errorf("got problems %q, want %q", problems, test.problem)
			}
		})
	}
}

func TestARunThatGoRefusesIsAnError(t *testing.T) {
	_, err := Run(t.Context(), Request{Dir: t.TempDir(), Args: []string{"-timeout=soon"}})
	if err == nil || !strings.Contains(err.Error(), "go test can't run") || !strings.Contains(err.Error(), "soon") {
		t.Errorf("got error %v, want one that says what go refuses", err)
	}
}

func TestMessages(t *testing.T) {
	const output = `=== RUN   TestA
printed past it
    a_test.go:7: it is 1,
        want 2

        at least
    a_test.go:9: and so on
--- FAIL: TestA (0.00s)
`
	want := []Message{
		{Text: "printed past it"},
		{"a_test.go", 7, "it is 1,\nwant 2\n\nat least"},
		{"a_test.go", 9, "and so on"},
	}
	if got := Messages(output); !slices.Equal(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
