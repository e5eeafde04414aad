package gotest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each test runs the real go test on a small module.
func TestRun(t *testing.T) {
	for sentence, test := range map[string]struct {
		source  string
		want    Counts
		problem string // stands in a problem; "": there is none
		wantErr string
	}{
		"tests and subtests that pass are counted": {
			source: "func TestA(t *testing.T) { t.Run(`b`, func(t *testing.T) {}) }",
			want:   Counts{Passed: 2},
		},
		"a test that fails is shown with what it printed": {
			source:  "func TestA(t *testing.T) { t.Error(`the reason`) }",
			want:    Counts{Failed: 1},
			problem: "the reason",
		},
		"a skipped test is a problem": {
			source:  "func TestA(t *testing.T) { t.Skip(`no time`) }",
			want:    Counts{Skipped: 1},
			problem: "no time",
		},
		"a test file that doesn't build is a problem": {
			source:  "func TestA(t *testing.T) { undefined() }",
			want:    Counts{Failed: 1},
			problem: "undefined: undefined",
		},
		"a package that fails outside its tests is a problem": {
			source:  "func TestA(t *testing.T) {}\nfunc TestMain(m *testing.M) { m.Run(); println(`a leak`); os.Exit(1) }\nvar _ = os.Exit",
			want:    Counts{Passed: 1, Failed: 1},
			problem: "a leak",
		},
		"a run without a test is an error": {
			source:  "var _ testing.T",
			wantErr: "no test was run",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			imports := "import \"testing\"\n"
			if strings.Contains(test.source, "os.") {
				imports += "import \"os\"\n"
			}
			for file, content := range map[string]string{"go.mod": "module a\n\ngo 1.26\n", "a_test.go": "package a\n\n" + imports + test.source} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			result, err := Run(t.Context(), dir, []string{"GOWORK=off"}, []string{"./..."}, func(string) {})
			if test.wantErr != "" || err != nil {
				if test.wantErr == "" || err == nil || !strings.Contains(err.Error(), test.wantErr) {
					t.Fatalf("error %v, want %q", err, test.wantErr)
				}
				return
			}
			if result.Counts != test.want {
				t.Errorf("counted %+v, want %+v", result.Counts, test.want)
			}
			if test.problem == "" && len(result.Problems) > 0 || test.problem != "" && !slices.ContainsFunc(result.Problems, func(p string) bool { return strings.Contains(p, test.problem) }) {
				t.Errorf("problems %q, want %q", result.Problems, test.problem)
			}
		})
	}
}
