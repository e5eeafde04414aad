package checks

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/exercises"
)

// Everything in the texts is right, apart from the commands, which this test doesn't run.
func TestTexts(t *testing.T) {
	files, err := docs.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := docs.CheckText(root, files...); err != nil {
		t.Error(err)
	}
}

func TestContributingFitsOnAPage(t *testing.T) {
	const most = 600
	if words := len(strings.Fields(read(t, ".github/CONTRIBUTING.md"))); words > most {
		t.Errorf("CONTRIBUTING.md has %d words, and %d are enough", words, most)
	}
}

// The front page's big picture is in each chapter, which only adds what it highlights.
func TestTheBigPictureIsTheSame(t *testing.T) {
	_, picture, _ := strings.Cut(read(t, "README.md"), "```mermaid\n")
	picture, _, found := strings.Cut(picture, "```")
	all, err := chapters.All(root)
	if err != nil || !found {
		t.Fatalf("the front page has no picture; error %v", err)
	}
	for _, chapter := range all {
		if !strings.Contains(read(t, chapter.Name+"/README.md"), "```mermaid\n"+picture+"    classDef here ") {
			t.Errorf("%s/README.md doesn't have the front page's big picture", chapter.Name)
		}
	}
}

// avoid are words that sound translated. Write fix, is in, reports whether, again, forever, if you,
// delete, about, expensive, healthy, times out, is requeued, the desired state, is reported.
var avoid = regexp.MustCompile(`(?i)\b(mend(s|ed|ing)?|stands? (at|by|beside|for itself)|(tells|told) whether|` +
	`anew|for ever|whoever|(takes?|taken|took) (it |them )?away|(comes?|came) of (it|this|that)|a word on|dear|` +
	`(is|are) in order|(is|are|was) given up|` +
	`(keys?|foos?|tdsets?) comes? (again|back)|what (is|was) wanted|(which|what|it) is said)\b`)

func TestPlainEnglish(t *testing.T) {
	files, err := docs.Files(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		for i, line := range strings.Split(read(t, file), "\n") {
			if found := avoid.FindString(line); found != "" {
				t.Errorf("%s:%d: avoid %q", file, i+1, found)
			}
		}
	}
}

// A chapter's table has a row for each exercise: | [K: Title](…) | … | minutes |
func TestChaptersListTheirExercises(t *testing.T) {
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		row := fmt.Sprintf(`(?m)^\s*\| \[%d: %s\]\(.*\| %d \|\s*$`, e.Number, regexp.QuoteMeta(e.Title), e.Minutes)
		if !regexp.MustCompile(row).MatchString(read(t, e.Chapter.Name+"/README.md")) {
			t.Errorf("%s/README.md: its table has no exercise %d, %q, of %d minutes",
				e.Chapter.Name, e.Number, e.Title, e.Minutes)
		}
	}
}
