package contract

// The declaration and what is made of it: the matrix for readers, and the tests of one promise or
// fault.

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

func TestFind(t *testing.T) {
	for sentence, test := range map[string]struct {
		names []string
		want  string // their names, or an error's words
	}{
		"a promise":                     {[]string{"B4"}, "B4"},
		"a fault":                       {[]string{"F5"}, "F5"},
		"in any case, with blanks":      {[]string{"t12", " f6A"}, "T12 F6a"},
		"several faults by their group": {[]string{"F4"}, "F4a F4b F4c"},
		"B1 isn't B10 too":              {[]string{"B1"}, "B1"},
		"a check of the judge":          {[]string{"quiet"}, "quiet"},
		"a name that there isn't":       {[]string{"B4", "B13"}, `there is no promise, fault or check "B13"`},
		"an empty name":                 {[]string{""}, `there is no promise, fault or check ""`},
	} {
		t.Run(sentence, func(t *testing.T) {
			found, err := Find(test.names...)
			if err != nil {
				if err.Error() != test.want || !strings.Contains(problem.Format(err), "B11, B12, T1, T2") {
					t.Errorf("error %q, want %q and all that there are", problem.Format(err), test.want)
				}
				return
			}
			var got []string
			for _, named := range found {
				got = append(got, named.Name)
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTested(t *testing.T) {
	for sentence, test := range map[string]struct {
		chapter string
		names   []string
		want    string
	}{
		"Foos' promises of a chapter about Foos":     {"01-a", []string{"B4", "B6"}, "B4, B6"},
		"Foos' promises of chapter 07":               {"07-a", []string{"B4", "T2"}, "T2"},
		"promises that an exercise's API leaves out": {"01-a", []string{"T2", "T4"}, "T2"},
		"a fault that is only tested for Foos":       {"01-a", []string{"F7"}, "F7"},
		"a fault that the program doesn't survive":   {"01-a", []string{"F4a"}, "F4a"},
		"a fault that needs a second replica":        {"01-a", []string{"quiet", "F6c"}, "quiet"},
		"nothing":                                    {"07-a", []string{"B10"}, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			selected, err := Find(test.names...)
			if err != nil {
				t.Fatal(err)
			}
			tested := Tested(chapters.Chapter{Name: test.chapter}, selected)
			if got := strings.Join(names(tested), ", "); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A misspelled name would declare nothing.
func TestDeclaredNamesExist(t *testing.T) {
	known := sets.New(names(Everything())...)
	for _, c := range All() {
		for chapter, declared := range c.exceptions {
			for name := range declared {
				if !known.Has(name) {
					t.Errorf("%s, chapter %s: there is no promise, fault or check %q", c.Kind, chapter, name)
				}
			}
		}
	}
	for promise, checks := range proofs {
		if !known.HasAll(append(checks, promise)...) {
			t.Errorf("there is no promise %s, or one of the checks %q", promise, checks)
		}
	}
}

func TestPattern(t *testing.T) {
	found, err := Find("B1", "F4", "B11")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(Pattern(chapters.Chapter{Name: "01-a"}, found), "/")
	for part, names := range map[int]map[string]bool{
		0: {"TestAnything": true},
		1: {"01-a": true, "01-a-b": false},
		2: {
			"B1_create:_it": true, "F4c_writes": true, "B10_bad_input:_it": false, "F5_the": false,
			"conflicts_somebody": true, // which proves B11
		},
	} {
		for name, want := range names {
			if got := regexp.MustCompile(parts[part]).MatchString(name); got != want {
				t.Errorf("%s runs: %v, want %v", name, got, want)
			}
		}
	}
}

// go test passes if its pattern matches nothing, so each part of the pattern must exist.
func TestLessonsExist(t *testing.T) {
	all, err := chapters.All(testkit.Repository())
	if err != nil {
		t.Fatal(err)
	}
	sources, err := filepath.Glob("../../acceptance/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]bool{}
	for _, file := range sources {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(content), -1) {
			tests[found[1]] = true
		}
	}
	pattern := Lessons(all)
	for _, name := range regexp.MustCompile(`Test\w+`).FindAllString(pattern, -1) {
		if !tests[name] {
			t.Errorf("scripts/acceptance has no %s", name)
		}
	}
	for _, chapter := range all {
		lesson := regexp.MustCompile(`/\^` + chapter.Name + `\$/\^(\w+)_`).FindStringSubmatch(pattern)
		if lesson == nil {
			t.Errorf("%s has no fault that it is about", chapter.Name)
			continue
		}
		if _, err := Find(lesson[1]); err != nil || Of(chapter.Kind()).WhyNotHeld(chapter, lesson[1]) != "" {
			t.Errorf("%s should survive %s: %v", chapter.Name, lesson[1], err)
		}
	}
}
