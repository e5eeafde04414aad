package checks

// Tables that people edit by hand: names that correspond in two chapters, a chapter's exercises,
// and the timetables in scripts/AGENDA.md.

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/exercises"
)

var (
	// tableOfNames matches | chapter 04 | here | …, and the rows below it.
	tableOfNames = regexp.MustCompile(`(?m)^\| chapter ([0-9]{2}) \| here \|.*\n((?:\|.*\n)*)`)
	inBackticks  = regexp.MustCompile("`([^`]+)`")
)

// names: the names in a column of the table are in the code of the chapter in its heading.
func names(_ context.Context, r *repository) error {
	for _, chapter := range r.chapters {
		text, err := r.read(chapter.Name, "README.md") // the texts' check reports a missing one
		if err != nil {
			return err
		}
		for _, table := range tableOfNames.FindAllStringSubmatch(text, -1) {
			former, err := chapters.Find(r.root, table[1])
			if err != nil {
				return err
			}
			for column, in := range []chapters.Chapter{former[0], chapter} {
				code, err := sourceOf(in.Dir)
				if err != nil {
					return err
				}
				for row := range strings.Lines(table[2]) {
					cells := strings.Split(row, "|")
					for _, name := range inBackticks.FindAllStringSubmatch(cells[min(column+1, len(cells)-1)], -1) {
						if !strings.Contains(code, name[1]) {
							r.report("%s/README.md: the table names %s, which isn't in the code of %s", chapter.Name, name[0], in.Name)
						}
					}
				}
			}
		}
	}
	return nil
}

// sourceOf returns a chapter's source without tests and exercises.
func sourceOf(dir string) (string, error) {
	files, err := chapters.Files(dir, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasPrefix(name, "exercises/")
	})
	var source strings.Builder
	for _, file := range files {
		content, readErr := os.ReadFile(filepath.Join(dir, file))
		source.Write(content)
		err = errors.Join(err, readErr)
	}
	return source.String(), err
}

// practice: a chapter's table lists its exercises, and an exercise with a Predict has an Answer.
func practice(_ context.Context, r *repository) error {
	found, err := exercises.All(r.root)
	if err != nil {
		return err
	}
	for _, e := range found {
		task, err := r.read(e.Path(exercises.ReadmeFile))
		if err != nil {
			return err
		}
		text, err := r.read(e.Chapter.Name, "README.md")
		if err != nil {
			return err
		}
		if task != "" && !hasRow(text, e) { // the proof reports a missing one
			r.report("%s/README.md: its table has no exercise %d, %q, of %d minutes", e.Chapter.Name, e.Number, e.Title, e.Minutes)
		}
		if strings.Contains(task, "**Predict") && !strings.Contains(task, "<summary>Answer</summary>") {
			r.report("%s: it has a Predict, and no Answer", e.Path(exercises.ReadmeFile))
		}
	}
	return nil
}

// hasRow reports whether a text's table has an exercise: | [K: Title](…) | … | minutes |
func hasRow(text string, e exercises.Exercise) bool {
	row := fmt.Sprintf(`(?m)^\s*\| \[%d: %s\]\(.*\| %d \|\s*$`, e.Number, regexp.QuoteMeta(e.Title), e.Minutes)
	return regexp.MustCompile(row).MatchString(text)
}

var (
	timetable = regexp.MustCompile(`^## (\w+) \((\d+:\d\d)\): `)               // ## 3h (3:00): a watch, a cache
	timeSlot  = regexp.MustCompile(`^\| (\d+:\d\d) \| (\d+) \| (.+) \| .*\|$`) // | 0:35 | 15 | Break | |
)

// agenda: each timetable's rows are contiguous and add up to the time in its heading. Exercises
// have their titles and minutes, and chapters their ideas. Package docs checks the links.
func agenda(_ context.Context, r *repository) error {
	text, err := r.read("scripts", "AGENDA.md")
	if err != nil || text == "" { // the link in INSTRUCTOR.md fails then
		return err
	}
	named, err := rowsByLink(r)
	if err != nil {
		return err
	}
	report := func(line int, format string, args ...any) {
		r.report("scripts/AGENDA.md:%d: %s", line, fmt.Sprintf(format, args...))
	}
	name, length, minutes := "", "", 0
	fills := func(line int) {
		if sum := clock(minutes); name != "" && sum != length {
			report(line, "timetable %s takes %s, but its heading says %s", name, sum, length)
		}
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if head := timetable.FindStringSubmatch(line); head != nil {
			fills(i)
			name, length, minutes = head[1], head[2], 0
		}
		if slot := timeSlot.FindStringSubmatch(line); slot != nil {
			if now := clock(minutes); slot[1] != now {
				report(i+1, "this row begins at %s, but the rows before it end at %s", slot[1], now)
			}
			more, _ := strconv.Atoi(slot[2]) // digits only
			minutes += more
		}
		for link, want := range named {
			if strings.HasPrefix(line, "|") && strings.Contains(line, link) && !strings.Contains(line, want+link) {
				report(i+1, "this row should have %q", want+link)
			}
		}
	}
	fills(len(lines))
	if name == "" {
		report(1, "it has no timetable, which begins with a heading such as %q", "## 3h (3:00): a watch, a cache")
	}
	return nil
}

// clock is a number of minutes as a timetable shows it: 1:05.
func clock(minutes int) string { return fmt.Sprintf("%d:%02d", minutes/60, minutes%60) }

// rowsByLink maps the link to each exercise or chapter to the text that should come before it.
func rowsByLink(r *repository) (map[string]string, error) {
	rows := map[string]string{}
	for _, chapter := range r.chapters {
		idea, err := chapter.Idea()
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		rows["(../"+chapter.Name+"/README.md)"] = fmt.Sprintf("| | | **Chapter %s**: [%s]", chapter.Number(), idea)
	}
	found, err := exercises.All(r.root)
	for _, e := range found {
		rows["(../"+e.Path("README.md")+")"] = fmt.Sprintf("| %d | [Exercise %s: %s]", e.Minutes, e.Name(), e.Title)
	}
	return rows, err
}
