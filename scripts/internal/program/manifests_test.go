package program

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

// anAccount is the least that a program's manifests need.
const anAccount = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a-manager, namespace: a-system}\n"

// The program for a kind is the chapter's own, or its exercise's solution.
func TestProgramsByKind(t *testing.T) {
	root := t.TempDir()
	testkit.Write(t, root, map[string]string{
		"01-a/manifests/rbac.yaml":                   anAccount,
		"01-a/exercises/5-tdset/manifests/rbac.yaml": anAccount,
		"07-b/manifests/rbac.yaml":                   anAccount,
	})
	for sentence, test := range map[string]struct{ chapter, kind, want string }{
		"its own":                {"01-a", chapters.Foo, "01-a"},
		"its exercise's":         {"01-a", chapters.TDSet, "01-a-tdset"},
		"its own, of chapter 07": {"07-b", chapters.TDSet, "07-b"},
		"none":                   {"07-b", chapters.Foo, ""},
		"none yet":               {"02-c", chapters.TDSet, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			p, found, err := Of(chapters.Chapter{Name: test.chapter, Dir: filepath.Join(root, test.chapter)}, test.kind)
			if err != nil || p.Name != test.want || found != (test.want != "") || found && p.Kind != test.kind {
				t.Errorf("found %v: %q, for %q; error %v", found, p.Name, p.Kind, err)
			}
		})
	}
}

// Every program has the manifests that `workshop run` needs.
func TestTheManifestsOfEveryProgram(t *testing.T) {
	all, err := chapters.All(testkit.Repository())
	if err != nil || len(all) == 0 {
		t.Fatalf("chapters %v, error %v", all, err)
	}
	for _, chapter := range all {
		own, err := OfChapter(chapter)
		if err != nil {
			t.Error(err)
			continue
		}
		programs := []Program{own}
		if tdset, found, err := Of(chapter, chapters.TDSet); err != nil {
			t.Error(err)
		} else if found {
			programs = append(programs, tdset)
		}
		for _, p := range programs {
			for _, file := range append([]string{p.CRD}, p.Examples...) {
				if _, err := os.Stat(file); err != nil {
					t.Errorf("%s: %v", p.Name, err)
				}
			}
			if p.ServiceAccount == "" || p.Namespace == "" || len(p.Rules) == 0 {
				t.Errorf("%s: it runs as %s/%s with %v", p.Name, p.Namespace, p.ServiceAccount, p.Rules)
			}
		}
	}
}

// A capstone about the chapter's kind has the chapter's manifests. One about a new kind has its own.
func TestTheProgramOfAnExercise(t *testing.T) {
	chapter := chapters.Chapter{Name: "01-test", Dir: t.TempDir()}
	const crd = "spec:\n  names: {kind: Website}\n  versions: [{name: v1, storage: true}]\n"
	testkit.Write(t, chapter.Dir, map[string]string{
		"manifests/rbac.yaml":                     anAccount,
		"exercises/1-foo/exercise.go":             "package main\n",
		"exercises/2-website/manifests/crd.yaml":  crd,
		"exercises/2-website/manifests/rbac.yaml": strings.ReplaceAll(anAccount, "a-manager", "w-manager"),
	})
	own, err := OfChapter(chapter)
	if err != nil {
		t.Fatal(err)
	}
	foo, err := OfExercise(chapter, "1-foo")
	if err != nil || foo.Kind != chapters.Foo || foo.CRD != own.CRD || foo.ServiceAccount != "a-manager" {
		t.Errorf("got %+v, error %v, want the chapter's manifests", foo, err)
	}
	website, err := OfExercise(chapter, "2-website")
	if err != nil || website.Kind != "Website" || website.ServiceAccount != "w-manager" ||
		website.Examples[0] != filepath.Join(filepath.Dir(website.CRD), "website.yaml") {
		t.Errorf("got %+v, error %v, want its own manifests", website, err)
	}
	solved := website.Solution()
	if solved.Name != "01-test-2-website-solution" || !slices.Equal(solved.buildArgs, []string{"-tags", "solution"}) {
		t.Errorf("got %+v, want the solution", solved)
	}
}
