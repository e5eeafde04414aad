package museum

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const (
	root  = "../../.."
	index = "scripts/MUSEUM.md"
)

// TestIndex holds MUSEUM.md to the declaration. UPDATE=1 writes it.
func TestIndex(t *testing.T) {
	file, want := root+"/"+index, Write(Origins())
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s isn't what is declared: UPDATE=1 go test ./internal/museum writes it", index)
	}
}

func TestTheRepositoryHasWhatExhibitsName(t *testing.T) {
	for _, origin := range Origins() {
		for _, exhibit := range origin.Exhibits {
			t.Run(exhibit.Bug, func(t *testing.T) {
				for _, problem := range exhibit.Problems(os.DirFS(root)) {
					t.Error(problem)
				}
			})
		}
	}
}

// The bugs that the course is to show, by some words of each sentence: none is lost, and none comes twice. A new one is added here too.
func TestAllAreThere(t *testing.T) {
	want := map[string][]string{
		"From sample-controller": {
			"one selector", "annotations", "resync", "being deleted", "kind alone", "5 requests", "subresource status",
		},
		"From BackAged's tdset-operator": {
			"whoever owns it", "swallowed", "nil", "image", "midnight", "Unknown", "Service", "being deleted", "a day late",
		},
		"From everywhere": {
			"tombstone", "in the cache is changed", "just written", "CreateOrUpdate", "finalizer",
			"object is applied along with its CRD", "program that is started",
		},
	}
	got := map[string][]string{}
	for _, origin := range Origins() {
		for i, exhibit := range origin.Exhibits {
			words := exhibit.Bug
			if all := want[origin.Name]; i < len(all) && strings.Contains(exhibit.Bug, all[i]) {
				words = all[i]
			}
			got[origin.Name] = append(got[origin.Name], words)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("exhibits (-want +got):\n%s", diff)
	}
}

// A small repository with one exhibit that is as it should be.
func small() (fstest.MapFS, Exhibit) {
	text := func(lines ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
	}
	const folder = "01-a/exercises/1-mend"
	return fstest.MapFS{
			"01-a/README.md": text("# 01: a", "", "## What breaks", "", "### A `bug`", "", "It **eats", "the** cache.", "",
				"```sh", "# Another", "it bites", "```", "", "### Another", "", "It sleeps."),
			folder + "/README.md": text("# 1: Mend this", "", "It eats the cache."),
			folder + "/exercise_test.go": text("// fails: TestMend/it is fed", "", "package mend", "", `import "testing"`, "",
				"func TestMend(t *testing.T) {", `	t.Run("it is fed", nil)`, `	t.Run("it sleeps", nil)`, "}",
				"type x int", "func (x) TestOfNothing() {}"),
		}, Exhibit{
			Bug:      "It eats",
			Shown:    []Section{{"01-a/README.md", "A bug", "It eats the cache"}, {folder + "/README.md", "", "It eats the cache"}},
			Fails:    []Test{{folder + "/exercise_test.go", "TestMend/it is fed"}},
			Mended:   []Test{{folder + "/exercise_test.go", "TestMend/it is fed"}, {folder + "/exercise_test.go", "TestMend"}},
			Upstream: []Place{{"https://github.com/a/b/blob/v1.2.3/c.go", "eat"}},
		}
}

func TestProblems(t *testing.T) {
	for sentence, test := range map[string]struct {
		change func(fstest.MapFS, *Exhibit)
		want   []string
	}{
		"all is as it should be": {func(fstest.MapFS, *Exhibit) {}, nil},
		"nothing is named": {
			func(_ fstest.MapFS, e *Exhibit) { *e = Exhibit{Bug: e.Bug} },
			[]string{
				"it doesn't name a test that shows the bug", "it doesn't name a test that shows the mend",
				"it doesn't name where it is from", "it doesn't name where it is shown",
			},
		},
		"the text is gone": {
			func(files fstest.MapFS, _ *Exhibit) { delete(files, "01-a/README.md") },
			[]string{"reading Markdown: open 01-a/README.md: file does not exist"},
		},
		"the section is called otherwise": {
			func(_ fstest.MapFS, e *Exhibit) { e.Shown[0].Heading = "Bug" },
			[]string{`01-a/README.md has no section "Bug"`},
		},
		"a heading in code is none": {
			func(_ fstest.MapFS, e *Exhibit) { e.Shown[0] = Section{"01-a/README.md", "Another", "it bites"} },
			[]string{`01-a/README.md, section "Another", doesn't say "it bites"`},
		},
		"the section ends at the next heading": {
			func(_ fstest.MapFS, e *Exhibit) { e.Shown[0].Words = "It sleeps" },
			[]string{`01-a/README.md, section "A bug", doesn't say "It sleeps"`},
		},
		"a section has those below it": {
			func(_ fstest.MapFS, e *Exhibit) { e.Shown[0] = Section{"01-a/README.md", "What breaks", "It sleeps"} }, nil,
		},
		"no words are named": {
			func(_ fstest.MapFS, e *Exhibit) { e.Shown[1].Words = "" },
			[]string{`01-a/exercises/1-mend/README.md, section "", doesn't say ""`},
		},
		"the tests are gone": {
			func(files fstest.MapFS, e *Exhibit) {
				delete(files, e.Fails[0].File)
				e.Mended = e.Mended[:1]
			},
			slices.Repeat([]string{"open 01-a/exercises/1-mend/exercise_test.go: file does not exist"}, 2),
		},
		"the test has another name": {
			func(_ fstest.MapFS, e *Exhibit) { e.Mended[0].Name = "TestMended" },
			[]string{"01-a/exercises/1-mend/exercise_test.go has no test TestMended"},
		},
		"a method is no test": {
			func(_ fstest.MapFS, e *Exhibit) { e.Mended[0].Name = "TestOfNothing" },
			[]string{"01-a/exercises/1-mend/exercise_test.go has no test TestOfNothing"},
		},
		"the subtest has another name": {
			func(_ fstest.MapFS, e *Exhibit) { e.Mended[0].Name = "TestMend/it is full" },
			[]string{`01-a/exercises/1-mend/exercise_test.go has no subtest "it is full"`},
		},
		"the test doesn't fail as given": {
			func(_ fstest.MapFS, e *Exhibit) { e.Fails[0].Name = "TestMend/it sleeps" },
			[]string{"01-a/exercises/1-mend/exercise_test.go doesn't say at its head that TestMend/it sleeps fails as given"},
		},
		"the address is that of a branch": {
			func(_ fstest.MapFS, e *Exhibit) { e.Upstream[0].URL = "https://github.com/a/b/blob/main/c.go" },
			[]string{"https://github.com/a/b/blob/main/c.go isn't the address of a file at a commit or a tag"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			files, exhibit := small()
			test.change(files, &exhibit)
			if diff := cmp.Diff(test.want, exhibit.Problems(files)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCommands(t *testing.T) {
	const deep, inFolder = "07-g/internal/controller/a_test.go", "go test -C 07-g -run TestA ./internal/controller"
	for sentence, test := range map[string]struct {
		test          Test
		fails, passes string
	}{
		"an exercise's": {
			Test{"02-b/exercises/1-mend/exercise_test.go", "TestMend/it is fed"},
			"./scripts/workshop check 02/1", "go test -C 02-b -tags solution ./exercises/1-mend",
		},
		"one of the contract's": {
			Test{"scripts/acceptance/contract_test.go", "TestContract/B10 bad input: it is refused"},
			"", "./scripts/workshop test 04 --only B10",
		},
		"a chapter's":                   {Test{"04-d/a_test.go", "TestA"}, "go test -C 04-d -run TestA .", "go test -C 04-d -run TestA ."},
		"one of a folder":               {Test{deep, "TestA"}, inFolder, inFolder},
		"a subtest has too long a name": {Test{deep, "TestA/it is fed"}, "", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			if got := []string{test.test.fails(), test.test.passes("04")}; !slices.Equal(got, []string{test.fails, test.passes}) {
				t.Errorf("commands %q, want %q and %q", got, test.fails, test.passes)
			}
		})
	}
}

func TestSectionsAreLinkedByTheirAnchor(t *testing.T) {
	for want, section := range map[string]Section{
		"[03: Someone else's Deployment](../03-c/README.md#someone-elses-deployment)": {"03-c/README.md", "Someone else's Deployment", "it"},
		"[07: Whose is it?](../07-g/README.md#whose-is-it)":                           {"07-g/README.md", "Whose is it?", "it"},
		"[exercise 02/1-mend](../02-b/exercises/1-mend/README.md)":                    {"02-b/exercises/1-mend/README.md", "", "it"},
	} {
		if got := section.link(); got != want {
			t.Errorf("the link is %s, want %s", got, want)
		}
	}
}
