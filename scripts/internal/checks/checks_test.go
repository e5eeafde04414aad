package checks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestAll(t *testing.T) {
	good := map[string]string{
		"02-informers/go.mod":         "module c\n\ngo 1.26.0\n",
		"README.md":                   "",
		".gitignore":                  "",
		"01-raw-watch/go.mod":         "module a\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
		"01-raw-watch/a.go":           "package a\n",
		"scripts/go.mod":              "module b\n\ngo 1.26.0\n\nrequire k8s.io/api v0.37.2\n",
		"scripts/controlplane/go.mod": "module f\n\ngo 1.26.0\n",
	}
	for _, part := range parts {
		for _, chapter := range []string{"01-raw-watch", "02-informers"} {
			if hasPart(chapter[:2], part) {
				good[chapter+"/"+part.path] = contentFor(part.path, chapter)
			}
		}
	}
	good["01-raw-watch/"+tdset+"solution.go"] = schedule + "\nfunc run() {}\n"
	for sentence, test := range map[string]struct {
		file, content string
		want          []string
	}{
		"all is well":             {"01-raw-watch/b.go", "package a\n", nil},
		"a stray file at the top": {"notes.txt", "", []string{"notes.txt: doesn't belong at the top of the repository"}},
		"a file that a program wrote": {"scripts/cache/http/1", strings.Repeat("x", 200<<10),
			[]string{"scripts/cache/http/1: 200 KiB, but files have at most 100: delete it if a program wrote it"}},
		"a file that gofmt dislikes": {"scripts/c.go", "package  b\n", []string{"scripts/c.go: gofmt would change it"}},
		"a library in two versions": {"scripts/go.mod", "module b\n\ngo 1.26.0\n\nrequire k8s.io/api v0.36.3\n",
			[]string{"scripts/go.mod: k8s.io/api v0.36.3, but v0.37.2 in 01-raw-watch/go.mod"}},
		"the control plane in another version": {"scripts/controlplane/go.mod", "module f\n\ngo 1.26.0\n\nrequire k8s.io/api v0.36.3 // indirect\n",
			[]string{"scripts/controlplane/go.mod: k8s.io/api v0.36.3, but v0.37.2 in 01-raw-watch/go.mod"}},
		"a tool in another version than its library": {"02-informers/Makefile", "A_VERSION ?= v0.36.3\nA ?= go run k8s.io/api@$(A_VERSION)\n",
			[]string{"02-informers/Makefile: k8s.io/api v0.36.3, but v0.37.2 in 01-raw-watch/go.mod"}},
		"a tool in the version of its library": {"02-informers/Makefile", "A_VERSION ?= v0.37.2\nA ?= go run k8s.io/api@$(A_VERSION)\n", nil},
		"a part of the skeleton that differs": {"02-informers/desired.go", "package a\n",
			[]string{"02-informers/desired.go: should be the same as in 01-raw-watch"}},
		"a part that may differ": {"02-informers/write.go", "package a\n", nil},
		"a part of the exercise TDSet that differs": {"02-informers/" + tdset + "desired.go", "package a\n",
			[]string{"02-informers/" + tdset + "desired.go: should be the same as in 01-raw-watch"}},
		"a file of the exercise TDSet that isn't the chapter's own": {"02-informers/" + tdset + "refusal.go", "package a\n",
			[]string{"02-informers/" + tdset + "refusal.go: should be the same as in 01-raw-watch",
				"02-informers/" + tdset + "refusal.go: should be the same as the chapter's refusal.go, except for names"}},
		"a given schedule that isn't the solution's": {"01-raw-watch/" + tdset + "solution.go", "package a\n",
			[]string{"02's " + tdset + "schedule.go: what it declares should be the same as in 01's " + tdset + "solution.go"}},
		"a part that is missing": {"03-workqueue/go.mod", "module d\n\ngo 1.26.0\n", allMissing()},
		"two versions of Go": {"scripts/go.mod", "module b\n\ngo 1.25.0\n\nrequire k8s.io/api v0.37.2\n",
			[]string{"scripts/go.mod: go 1.25.0, but 1.26.0 in 01-raw-watch/go.mod"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), good)
			testkit.Write(t, root, map[string]string{test.file: test.content})
			problems, err := All(t.Context(), root)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(problems, test.want) {
				t.Errorf("found %q, want %q", problems, test.want)
			}
		})
	}
}

const schedule = "// A schedule.\npackage a\n\nimport (\n\t\"time\"\n)\n\nvar at time.Time\n"

// contentFor makes a file of a chapter.
func contentFor(path, chapter string) string {
	switch {
	case path == tdset+"schedule.go":
		return schedule
	case strings.HasSuffix(path, ".yaml"):
		return "kind: A\n"
	}
	return "// Part of " + chapter + ".\npackage a\n"
}

func hasPart(chapter string, part part) bool {
	return slices.ContainsFunc(strings.Fields(part.chapters), func(group string) bool {
		return group[:2] <= chapter && chapter <= group[len(group)-2:]
	})
}

// allMissing are the problems of chapter 03-workqueue if it is empty.
func allMissing() []string {
	var problems []string
	for _, part := range parts {
		if hasPart("03", part) {
			problems = append(problems, fmt.Sprintf("03-workqueue: has no %s, as chapters %s should", part.path, part.chapters))
		}
	}
	return problems
}

func TestAPartThatMovedToKubebuildersLayout(t *testing.T) {
	const core = "// The core.\npackage main\n\nimport (\n\t\"example.com/operators/05-a/pkg/apis\"\n)\n\nvar a = 1\n"
	there := strings.NewReplacer("package main", "package controller", "05-a/pkg/apis", "06-b/api").Replace(core)
	const place = "06-b/internal/controller/desired.go"
	for sentence, test := range map[string]struct {
		six  string
		want bool
	}{
		"the same, but for package and imports": {there, false},
		"another":                               {strings.ReplaceAll(there, "a = 1", "a = 2"), true},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{"05-a/desired.go": core, place: test.six})
			problems, err := run(t.Context(), root, skeleton)
			if got := slices.Contains(problems, place+": should be the same as in 05-a"); err != nil || got != test.want {
				t.Errorf("found %q (%v), want %v", problems, err, test.want)
			}
		})
	}
}

func TestAChaptersAdditions(t *testing.T) {
	const work = "package main\n\nfunc work() {\n\twrite()\n}\n"
	for sentence, test := range map[string]struct {
		line string
		want bool
	}{
		"the line that chapter 03 adds": {"\tc.recordEvent(foo, status)\n", false},
		"another line":                  {"\tlog()\n", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{
				"02-a/reconcile.go": work,
				"03-b/reconcile.go": strings.Replace(work, "\twrite()\n", "\twrite()\n"+test.line, 1),
			})
			problems, err := run(t.Context(), root, skeleton)
			if got := slices.Contains(problems, "03-b/reconcile.go: should be the same as in 02-a"); err != nil || got != test.want {
				t.Errorf("found %q (%v), want %v", problems, err, test.want)
			}
		})
	}
}

func TestTheStatusIsTheSameAsInChapter01(t *testing.T) {
	const status = "\n// controls reports whether\nfunc controls() {}\n"
	for sentence, test := range map[string]struct {
		four string
		want bool
	}{
		"the same after another first half": {"package main\n\nvar b = 2\n" + status, false},
		"another":                           {"package main\n" + status + "\nfunc c() {}\n", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{"01-a/desired.go": "package main\n" + status, "04-b/desired.go": test.four})
			problems, err := run(t.Context(), root, skeleton)
			if got := slices.Contains(problems, "04-b/desired.go: should be the same as in 01-a after // controls reports whether"); err != nil || got != test.want {
				t.Errorf("found %q (%v), want %v", problems, err, test.want)
			}
		})
	}
}
