package suite

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/ui"
)

func TestTheRaceDetectorNeedsACompiler(t *testing.T) {
	for compiler, want := range map[string]string{
		"sh":               "", // any program will do
		"sh -m64":          "",
		"no-such-compiler": "there is no C compiler",
	} {
		t.Setenv("CC", compiler)
		t.Setenv("CGO_ENABLED", "0") // as everything but -race is built
		if err := requireRaceDetector(t.Context()); !says(err, want) {
			t.Errorf("CC=%s: error %v, want %q", compiler, err, want)
		}
	}
}

// says reports whether err contains text, or is nil if text is "".
func says(err error, words string) bool {
	if err == nil || words == "" {
		return err == nil && words == ""
	}
	return strings.Contains(err.Error(), words)
}

func TestATourInATextRunsOnce(t *testing.T) {
	for text, want := range map[string]bool{
		"Look:\n\n```console\n$ ./scripts/workshop demo 02\n…\n```\n": true,
		"`./scripts/workshop demo 02` shows it.\n":                    false,
		"```console\n$ ./scripts/workshop demo 01\n```\n":             false,
	} {
		chapter := chapters.Chapter{Name: "02-b", Dir: t.TempDir()}
		write(t, filepath.Join(chapter.Dir, "README.md"), text)
		if got := givesTour(chapter); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestTextFiles(t *testing.T) {
	root := t.TempDir()
	for _, file := range []string{"README.md", "01-a/README.md", "02-b/README.md", "scripts/more.md"} {
		write(t, filepath.Join(root, file), "")
	}
	two := []chapters.Chapter{{Name: "02-b"}}
	for _, test := range []struct {
		suite Suite
		want  []string
	}{
		{Suite{Chapters: two}, []string{"02-b/README.md"}},
		{Suite{Everything: true}, []string{"README.md", "scripts/more.md"}},
		{Suite{Chapters: two, Everything: true}, []string{"02-b/README.md", "README.md", "scripts/more.md"}},
	} {
		test.suite.Root = root
		files, err := test.suite.textFiles()
		if slices.Sort(files); err != nil || !slices.Equal(files, test.want) {
			t.Errorf("chapters %v, everything %t: got %v, error %v", test.suite.Chapters, test.suite.Everything, files, err)
		}
	}
}

// A text's commands must not act on the user's cluster, whatever the environment of the test run
// says.
func TestTextsRunOnTheirOwnCluster(t *testing.T) {
	t.Setenv("KUBECONFIG", "/the/users")
	t.Setenv("WORKSHOP_ON", "kind")
	s := &Suite{Root: t.TempDir(), Bin: "/bin/dir"}
	c := cluster.New(s.Root, s.Bin, readersCluster)
	last := map[string]string{}
	for _, variable := range s.readersEnvironment(c) {
		for i := range variable {
			if variable[i] == '=' {
				last[variable[:i]] = variable[i+1:]
				break
			}
		}
	}
	if last["KUBECONFIG"] != c.Kubeconfig() || last["WORKSHOP_CLUSTER"] != readersCluster {
		t.Errorf("KUBECONFIG=%s, WORKSHOP_CLUSTER=%s", last["KUBECONFIG"], last["WORKSHOP_CLUSTER"])
	}
	if last["WORKSHOP_ON"] != "" {
		t.Errorf("WORKSHOP_ON=%s: the texts would make clusters of kind", last["WORKSHOP_ON"])
	}
	if path := filepath.SplitList(last["PATH"]); path[0] != s.Bin {
		t.Errorf("the workshop's kubectl isn't first in PATH: %v", path)
	}
}

// Learners' exercises, which may be broken, aren't linted or tested.
func TestExercisesAreLeftOut(t *testing.T) {
	root := t.TempDir()
	for file, content := range map[string]string{
		"01-a/go.mod":                       "module example.com/01-a\n\ngo 1.26\n",
		"01-a/main.go":                      "package main\n\nfunc main() {}\n",
		"01-a/wire/wire.go":                 "package wire\n",
		"01-a/exercises/1-x/exercise.go":    "//go:build !solution\n\npack",
		"01-a/exercises/1-x/solution.go":    "//go:build solution\n\npackage x\n",
		"01-a/exercises/1-x/in/anything.go": "package in\n\nimport \"nothing\"\n",
	} {
		write(t, filepath.Join(root, file), content)
	}
	s := &Suite{Root: root, UI: ui.New(os.Stderr)}
	packages, err := s.packages(t.Context(), "01-a")
	if want := []string{"example.com/01-a", "example.com/01-a/wire"}; err != nil || !slices.Equal(packages, want) {
		t.Errorf("found %q, error %v, want %q", packages, err, want)
	}
}

// If no chapter has the promise, no test passes.
func TestOnlyWithNothingToTest(t *testing.T) {
	wanted, err := contract.Find("B4")
	if err != nil {
		t.Fatal(err)
	}
	s := &Suite{Root: t.TempDir(), Chapters: []chapters.Chapter{{Name: "07-a"}}}
	var out strings.Builder
	if counts, err := s.Only(t.Context(), wanted, &out, ui.NewPalette(false)); err == nil || counts != (gotest.Counts{}) {
		t.Errorf("got error %v, counts %+v and output %q", err, counts, out.String())
	}
}

func TestTheLogHasTheFailures(t *testing.T) {
	s := &Suite{Root: t.TempDir()}
	path := filepath.Join(s.Root, filepath.FromSlash(logFile))
	var out strings.Builder
	if err := s.keepLog(&out, nil); err != nil || out.Len() > 0 {
		t.Errorf("nothing failed: got error %v and output %q", err, out.String())
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("there is a log, but nothing failed")
	}
	if err := s.keepLog(&out, []string{"one", "two"}); err != nil || !strings.Contains(out.String(), logFile) {
		t.Errorf("two failed: got error %v and output %q", err, out.String())
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "one\ntwo" {
		t.Errorf("the log is %q, error %v", content, err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
