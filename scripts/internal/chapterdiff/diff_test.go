package chapterdiff

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

func newChapter(t *testing.T, name string, files map[string]string) chapters.Chapter {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	return chapters.Chapter{Name: name, Dir: testkit.Write(t, dir, files)}
}

// compareFiles compares chapter 01-a with the files of a to chapter 02-b with the files of b.
func compareFiles(t *testing.T, a, b map[string]string, all bool) Diff {
	t.Helper()
	diff, err := Compare(newChapter(t, "01-a", a), newChapter(t, "02-b", b), all)
	if err != nil {
		t.Fatal(err)
	}
	return diff
}

func printed(t *testing.T, diff Diff, colour bool) string {
	t.Helper()
	var out strings.Builder
	if err := diff.Print(&out, colour); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const (
	eventsA = `// How events arrive.

package main

import (
	"fmt"

	"example.com/operators/01-a/wire"
)

// run runs.
func run() {
	wire.Watch()
}

// stop stops.
func stop() {
	fmt.Println("stopped")
}
`
	eventsB = `// How events arrive.

package main

import (
	"fmt"

	"example.com/operators/02-b/cache"
)

// run runs.
func run() {
	cache.Start()
	cache.Wait()
}

// stop stops.
func stop() {
	fmt.Println("stopped")
}
`
	desired = `package main

import "example.com/operators/NAME/pkg/apis"

// core is pure.
var core = apis.Foo{}
`
)

func TestPrint(t *testing.T) {
	diff := compareFiles(t,
		map[string]string{
			"go.mod":         "module example.com/operators/01-a\n",
			"README.md":      "# One\n",
			"main.go":        "package main\n\nfunc main() { run() }\n",
			"events.go":      eventsA,
			"events_test.go": "package main\n",
			"desired.go":     strings.ReplaceAll(desired, "NAME", "01-a"),
			"wire/wire.go":   "package wire\n\n// Watch watches.\nfunc Watch() {}\n",
			"watch/main.go":  "package main\n\nfunc main() {}\n",
		},
		map[string]string{
			"go.mod":                     "module example.com/operators/02-b\n",
			"README.md":                  "# Two\n",
			"main.go":                    "package main\n\nfunc main() { run(); stop() }\n",
			"events.go":                  eventsB,
			"desired.go":                 strings.ReplaceAll(desired, "NAME", "02-b"),
			"cache/cache.go":             "package cache\n\nfunc Start() {}\n",
			"pkg/generated/clientset.go": "package generated\n",
		}, false)
	want := `From 01-a (-) to 02-b (+): 9 lines to read.
The same in both: desired.go.

events.go: 5 lines changed (2 removed, 3 added)
@@ -5,12 +5,13 @@ run
 import (
 	"fmt"
 
-	"example.com/operators/01-a/wire"
+	"example.com/operators/02-b/cache"
 )
 
 // run runs.
 func run() {
-	wire.Watch()
+	cache.Start()
+	cache.Wait()
 }
 
 // stop stops.

main.go: 2 lines changed (1 removed, 1 added)
@@ -1,3 +1,3 @@ main
 package main
 
-func main() { run() }
+func main() { run(); stop() }

cache/cache.go: new (2 lines)
@@ -0,0 +1,3 @@
+package cache
+
+func Start() {}

wire/wire.go: gone (3 lines)
watch/main.go: gone, a program of its own (2 lines)

Not shown: 2 files only named above (--all); 1 file of tests and exercises (--all); 1 file that a generator wrote.
`
	if got := printed(t, diff, false); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// In each case, two chapters differ in one file or two.
func TestPrintOfOneFile(t *testing.T) {
	const goMain = "package main\n"
	tests := map[string]struct {
		a, b map[string]string
		all  bool
		want []string // lines of the output
		not  []string // none of its lines contains it
	}{
		"a changed file: the number of lines": {
			a: map[string]string{"x.go": goMain}, b: map[string]string{"x.go": goMain + "\nvar x int\n"},
			want: []string{"x.go: 1 line changed (0 removed, 1 added)"},
		},
		"a file with its chapter's name: the same": {
			a:    map[string]string{"main.go": "// Command 01-a runs.\npackage main\n"},
			b:    map[string]string{"main.go": "// Command 02-b runs.\npackage main\n"},
			want: []string{"The same in both: main.go."}, not: []string{"@@"},
		},
		"other line ends: the same": {
			a: map[string]string{"x.go": "package main\r\n\r\nvar x int"}, b: map[string]string{"x.go": "package main\n\nvar x int\n"},
			want: []string{"The same in both: x.go."},
		},
		"only blank lines: no count": {
			a: map[string]string{"x.go": "package x\nvar x int\n"}, b: map[string]string{"x.go": "package x\n\nvar x int\n"},
			want: []string{"x.go: only blank lines changed"},
		},
		"a file that doesn't parse: no names": {
			a: map[string]string{"x.go": "package main\n\nfunc {\n"}, b: map[string]string{"x.go": "package main\n\nfunc {{\n"},
			want: []string{"@@ -1,3 +1,3 @@", "-func {", "+func {{"},
		},
		"a literal without an end: no names": {
			a: map[string]string{"x.go": "package main\n\nvar x = `\n"}, b: map[string]string{"x.go": "package main\n\nvar y = `\n"},
			want: []string{"@@ -1,3 +1,3 @@"},
		},
		"a deleted file: its length": {
			a: map[string]string{"x.go": goMain}, want: []string{"x.go: gone (1 line)"}, not: []string{"@@", "-package"},
		},
		"a deleted file, with all: its lines": {
			a: map[string]string{"x.go": goMain}, all: true, want: []string{"x.go: gone (1 line)", "-package main"},
		},
		"a generated file: nothing": {
			b:    map[string]string{"x.go": "// Code generated by hand. DO NOT EDIT.\npackage main\n"},
			want: []string{"Not shown: 1 file that a generator wrote."}, not: []string{"x.go", "@@"},
		},
		"a file that is generated now: that it is": {
			a:    map[string]string{"manifests/crd.yaml": "a: 1\nb: 2\n"},
			b:    map[string]string{"manifests/crd.yaml": "  controller-gen.kubebuilder.io/version: v1\n"},
			want: []string{"manifests/crd.yaml: written by a generator now (2 lines by hand before)"}, not: []string{"@@"},
		},
		"a file that was generated before: all lines": {
			a:    map[string]string{"x.go": "// Code generated by x. DO NOT EDIT.\npackage main\n"},
			b:    map[string]string{"x.go": goMain},
			want: []string{"x.go: new (1 line)", "+package main"},
		},
		"a test: the number of files": {
			b:    map[string]string{"x_test.go": goMain, "testdata/x.yaml": "a: 1\n"},
			want: []string{"Not shown: 2 files of tests and exercises (--all)."}, not: []string{"x_test.go"},
		},
		"a test, with all: its lines": {
			b: map[string]string{"x_test.go": goMain}, all: true, want: []string{"x_test.go: new (1 line)"},
		},
		"an exercise: the number of files": {
			b:    map[string]string{"exercises/1-x/exercise.go": goMain},
			want: []string{"Not shown: 1 file of tests and exercises (--all)."}, not: []string{"exercise.go"},
		},
		"an exercise, with all: its lines": {
			b:   map[string]string{"exercises/1-x/README.md": "Do.\n"},
			all: true, want: []string{"exercises/1-x/README.md: new (1 line)", "+Do."},
		},
		"a new warm-up: that it is a program": {
			b:    map[string]string{"imageswap/main.go": goMain},
			want: []string{"imageswap/main.go: new, a program of its own (1 line)"}, not: []string{"@@"},
		},
		"manifests of a warm-up: that they are the program's": {
			b:    map[string]string{"imageswap/main.go": goMain, "imageswap/chart/values.yaml": "a: 1\n"},
			want: []string{"imageswap/chart/values.yaml: new, of a program of its own (1 line)"},
		},
		"scripts next to a generator: they are the chapter's": {
			b:    map[string]string{"hack/generate.go": goMain, "hack/run.sh": "run\n"},
			want: []string{"hack/run.sh: new (1 line)"},
		},
		"a file that moved to kubebuilder's layout: its changes": {
			a: map[string]string{"main.go": goMain}, b: map[string]string{"cmd/main.go": goMain + "\nvar x int\n"},
			want: []string{"main.go → cmd/main.go: 1 line changed (0 removed, 1 added)"},
		},
		"a file at both paths: the same and new": {
			a: map[string]string{"main.go": goMain}, b: map[string]string{"main.go": goMain, "cmd/main.go": goMain},
			want: []string{"The same in both: main.go.", "cmd/main.go: new (1 line)"},
		},
		"modules, texts, binaries and hidden files: nothing": {
			a:   map[string]string{"go.mod": "module a\n", "README.md": "a\n"},
			b:   map[string]string{"go.sum": "b\n", "README.md": "b\n", "02-b": "\x7fELF\x00\n", ".idea/x.go": goMain, ".x": "x\n"},
			not: []string{"go.", "README", "02-b:", "x", "Not shown"},
		},
		"many changed declarations: the first three names": {
			a:    map[string]string{"x.go": "package x\n\nvar (\n\ta = 1\n\tb = 1\n)\n\ntype c int\n\n// d is.\nfunc d() {}\n"},
			b:    map[string]string{"x.go": "package x\n\nvar (\n\ta = 2\n\tb = 2\n)\n\ntype c string\n\n// d was.\nfunc d() {}\n"},
			want: []string{"@@ -1,11 +1,11 @@ a, b, c and 1 more"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			got := printed(t, compareFiles(t, withAFile(test.a), withAFile(test.b), test.all), false)
			lines := strings.Split(got, "\n")[1:]
			for _, want := range test.want {
				if !slices.ContainsFunc(lines, func(line string) bool { return line == want }) {
					t.Errorf("no line %q in:\n%s", want, got)
				}
			}
			for _, not := range test.not {
				if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, not) }) {
					t.Errorf("unexpected %q in:\n%s", not, got)
				}
			}
		})
	}
}

// withAFile adds a file, because a folder without any isn't a chapter.
func withAFile(files map[string]string) map[string]string {
	with := maps.Clone(files)
	if with == nil {
		with = map[string]string{}
	}
	with["go.sum"] = ""
	return with
}

func TestReadingOrder(t *testing.T) {
	goFile := func(lines int) string { return "package main\n\nvar x int\n" + strings.Repeat("\nvar y int\n", lines) }
	tests := map[string]struct {
		a, b map[string]string
		want []string
	}{
		"the lesson of chapter 02, then the skeleton's order": {
			a:    map[string]string{"main.go": goFile(0), "write.go": goFile(0), "read.go": goFile(0), "other.go": goFile(0)},
			b:    map[string]string{"main.go": goFile(2), "write.go": goFile(3), "read.go": goFile(1), "other.go": goFile(9), "informers.go": goFile(5)},
			want: []string{"informers.go, the lesson", "read.go, the lesson", "write.go", "main.go", "other.go"},
		},
		"a deleted file of the lesson keeps its place": {
			a:    map[string]string{"read.go": goFile(0), "other.go": goFile(0)},
			b:    map[string]string{"other.go": goFile(1)},
			want: []string{"read.go", "other.go"},
		},
		"changed files, then new ones, deleted ones, and manifests after all code": {
			a:    map[string]string{"main.go": goFile(0), "events.go": goFile(0), "a.yaml": "a: 1\n"},
			b:    map[string]string{"main.go": goFile(1), "queue.go": goFile(0), "leader.go": goFile(0), "b.go": goFile(0), "a.yaml": "a: 2\n"},
			want: []string{"main.go", "queue.go", "leader.go", "b.go", "events.go", "a.yaml"},
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, pair := range compareFiles(t, test.a, test.b, false).pairs {
				heading, _, _ := strings.Cut(pair.heading(), ":")
				got = append(got, heading)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestColour(t *testing.T) {
	files := map[string]string{"x.go": "package x\n\nvar a int\n"}
	other := map[string]string{"x.go": "package x\n\nvar b int\n"}
	got := printed(t, compareFiles(t, files, other, false), true)
	for _, want := range []string{"\x1b[31m-var a int\x1b[0m\n", "\x1b[32m+var b int\x1b[0m\n", "\n package x\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %q", want, got)
		}
	}
}

func TestAChapterIsNotComparedWithItself(t *testing.T) {
	chapter := newChapter(t, "01-a", map[string]string{"main.go": "package main\n"})
	if _, err := Compare(chapter, chapter, false); err == nil || !strings.Contains(err.Error(), "01-a compared with itself") {
		t.Errorf("got %v", err)
	}
}

// Only the solved program counts. Its solution.go is compared with the file that does the same where
// it is given.
func TestSolvedExercises(t *testing.T) {
	solved := func(name string, files map[string]string) chapters.Chapter {
		in := map[string]string{}
		for file, content := range files {
			in["exercises/5-tdset/"+file] = content
		}
		chapter, found := newChapter(t, name, in).TDSet()
		if !found {
			t.Fatalf("%s has no exercise TDSet", name)
		}
		return chapter
	}
	three := solved("03-a", map[string]string{
		"exercise.go": "package main\n\nvar unsolved int\n", "solution.go": "package main\n\nvar a int\n", "merge.go": "package main\n",
	})
	four := solved("04-b", map[string]string{
		"exercise.go": "package main\n", "solution.go": "package main\n\nvar c int\n", "queue.go": "package main\n\nvar a, b int\n",
		"exercise_test.go": "package main\n",
	})
	diff, err := Compare(three, four, false)
	if err != nil {
		t.Fatal(err)
	}
	got := printed(t, diff, false)
	var headings []string
	for line := range strings.Lines(got) {
		if strings.Contains(line, ".go: ") || strings.Contains(line, ", the lesson: ") {
			headings = append(headings, strings.TrimSpace(line))
		}
	}
	want := []string{
		"solution.go, the lesson: new (2 lines)",
		"solution.go → queue.go: 2 lines changed (1 removed, 1 added)",
		"merge.go: gone (1 line)",
	}
	if !slices.Equal(headings, want) {
		t.Errorf("got the headings %q, want %q, in:\n%s", headings, want, got)
	}
	if strings.Contains(got, "unsolved") || strings.Contains(got, "exercise.go") {
		t.Errorf("the learner's file is in:\n%s", got)
	}
}
