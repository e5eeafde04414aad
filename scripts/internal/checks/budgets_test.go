package checks

import (
	"path"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/operators/scripts/internal/chapters"
)

// budget is the most lines of handwritten Go: of the program, and to read if you come from the
// chapter before.
type budget struct{ code, toRead int }

const unlimited = 1 << 20

// Without budgets, a diff grows beyond its lesson and nobody notices. 07 is another operator, so its
// diff has none. The solved TDSet exercises only have one for the lines to read.
var (
	chapterBudgets = map[string]budget{
		"01": {code: 868},
		"02": {code: 651, toRead: 290},
		"03": {code: 783, toRead: 209},
		"04": {code: 729, toRead: 246},
		"05": {code: 413, toRead: 379},
		"06": {code: 579, toRead: 346},
		"07": {code: 1632, toRead: unlimited},
	}
	tdsetBudgets = map[string]budget{
		"01": {code: unlimited},
		"02": {code: unlimited, toRead: 296},
		"03": {code: unlimited, toRead: 253},
		"04": {code: unlimited, toRead: 225},
		"05": {code: unlimited, toRead: 255},
		"06": {code: unlimited, toRead: 221},
	}
)

func TestBudgetsOfTheChapters(t *testing.T) {
	compareWithBudgets(t, allChapters(t), chapterBudgets)
	compareWithBudgets(t, chapters.TDSets(allChapters(t)), tdsetBudgets)
}

func compareWithBudgets(t *testing.T, all []chapters.Chapter, budgets map[string]budget) {
	t.Helper()
	counts, err := chapters.Count(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for _, count := range counts {
		most := budgets[count.Number()]
		if count.Code > most.code {
			t.Errorf("%s has %d lines of code, but its budget is %d: make it shorter, or explain why it needs more",
				count.Dir, count.Code, most.code)
		}
		if count.ToRead() > most.toRead {
			t.Errorf("%s has %d lines to read, but its budget is %d: does the diff show only the lesson?",
				count.Dir, count.ToRead(), most.toRead)
		}
	}
}

// The budgets of scripts/: lines of Go, and folders with Go. They may only become smaller.
const (
	mostLines     = 21450
	mostTestLines = 15000
	mostFolders   = 28
)

func TestBudgetsOfScripts(t *testing.T) {
	var lines, testLines int
	folders := map[string]bool{}
	for name, content := range goFiles(t) {
		folders[path.Dir(name)] = true
		if strings.HasSuffix(name, "_test.go") {
			testLines += strings.Count(content, "\n")
		} else {
			lines += strings.Count(content, "\n")
		}
	}
	for _, budget := range []struct {
		what      string
		got, most int
	}{
		{"lines of Go without tests", lines, mostLines},
		{"lines of tests", testLines, mostTestLines},
		{"folders with Go", len(folders), mostFolders},
	} {
		if budget.got > budget.most {
			t.Errorf("scripts/ has %d %s, but the budget is %d: subtract first", budget.got, budget.what, budget.most)
		}
	}
}

// longLines is the share of lines in scripts/ that may have more than 120 characters.
const longLines = 0.001

func TestFewLinesAreLong(t *testing.T) {
	var all, long int
	for _, content := range goFiles(t) {
		for line := range strings.Lines(content) {
			all++
			if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 120 {
				long++
			}
		}
	}
	if share := float64(long) / float64(all); share > longLines {
		t.Errorf("%d lines of Go in scripts/, %.2f %%, have more than 120 characters, but the limit is %.2f %%",
			long, 100*share, 100*longLines)
	}
}

// goFiles returns the Go files in scripts/ by name.
func goFiles(t *testing.T) map[string]string {
	t.Helper()
	names, err := chapters.Files(filepath.Join(root, "scripts"), func(name string) bool { return path.Ext(name) == ".go" })
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, name := range names {
		files[name] = read(t, "scripts/"+name)
	}
	return files
}
