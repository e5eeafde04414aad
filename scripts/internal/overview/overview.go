// Package overview makes the tables about the whole course in the top README: the chapters, and how
// much code is left to write by hand in each.
package overview

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"example.com/operators/scripts/internal/chapterdiff"
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/docs"
	"example.com/operators/scripts/internal/exercises"
)

func Tables() docs.Tables {
	return docs.Tables{"chapters": Chapters, "steps": Steps, "by-hand": ByHand}
}

// Chapters has a row for each chapter below root: the problem, what the chapter adds to solve it,
// and the minutes for its text and its exercises.
func Chapters(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	table := [][]string{{"chapter", "operators", "the problem", "you add", "minutes: text + exercises"}}
	for _, chapter := range all {
		summary, err := chapter.Summary()
		if err != nil {
			return "", err
		}
		practice, err := exercises.In(chapter)
		if err != nil {
			return "", err
		}
		minutes := 0
		for _, exercise := range practice {
			minutes += exercise.Minutes
		}
		table = append(table, []string{
			fmt.Sprintf("[%s](%s/README.md)", chapter.Name, chapter.Name), operators(chapter), summary.Problem, summary.Add,
			fmt.Sprintf("%s + %d", summary.Minutes, minutes),
		})
	}
	return markdown(table), nil
}

// operators are the kinds of the chapter's operators. The second one is the solution of an exercise.
func operators(chapter chapters.Chapter) string {
	if _, found := chapter.TDSet(); found {
		return fmt.Sprintf("%s, [%s](%s/more/tdset.md)", chapter.Kind(), chapters.TDSet, chapter.Name)
	}
	return chapter.Kind()
}

func markdown(table [][]string) string {
	table = slices.Insert(table, 1, slices.Repeat([]string{"---"}, len(table[0])))
	var text strings.Builder
	for _, row := range table {
		fmt.Fprintf(&text, "| %s |\n", strings.Join(row, " | "))
	}
	return text.String()
}

// job is something that a controller needs, no matter who writes the code for it.
type job struct {
	what string
	// files matches the paths of its code. names are declarations that belong to it in any file,
	// and take precedence.
	files *regexp.Regexp
	names []string
}

// jobs are in the order in which data flows. Each line of code belongs to exactly one.
var jobs = []job{
	{what: "the types", files: regexp.MustCompile(`(^|_|/)types\.go$`)},
	{what: "their plumbing, and a client for them", files: regexp.MustCompile(`^wire/(client|trace)\.go$|^pkg/client/|(^|/)(deepcopy|register|doc|groupversion_info)\.go$`)},
	{what: "list, watch, resume, 410 Gone", files: regexp.MustCompile(`^wire/reflector\.go$`)},
	{what: "watches and caches: wiring", files: regexp.MustCompile(`(^|/)(reflectors|informers|index)\.go$`)},
	{what: "which events concern which Foos", files: regexp.MustCompile(`(^|/)events\.go$`), names: []string{"SetupWithManager", "findFoosForDeployment"}},
	{what: "a queue, its workers, retries", files: regexp.MustCompile(`(^|/)(handle|queue)\.go$`)},
	{what: "Reconcile: read, compare, write, report", files: regexp.MustCompile(
		`(^|/)(read|paths|reconcile|write|merge|recorder|refusal|deployment|status)\.go$|_controller\.go$`)},
	{what: "the desired state and the status", files: regexp.MustCompile(`(^|/)desired\.go$`)},
	{what: "leader election", files: regexp.MustCompile(`^leader\.go$`)},
	{what: "log messages when a watch fails", files: regexp.MustCompile(`(^|/)watcherrors\.go$`)},
	{what: "flags, settings, startup and shutdown", files: regexp.MustCompile(`(^|/)(main|config|manager|options|serving)\.go$`)},
	{what: "webhooks", files: regexp.MustCompile(`^internal/webhook/|^cmd/webhooks\.go$`)},
}

// ByHand has a row for each job, with each Foo chapter's lines of Go for it. The last rows have
// each chapter's totals, also those of its solved TDSet, how much there is to read after the previous chapter, and how many faults
// it survives.
func ByHand(root string) (string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return "", err
	}
	all = slices.DeleteFunc(all, func(c chapters.Chapter) bool { return c.Kind() != chapters.Foo })
	table := [][]string{{"lines of Go for"}}
	for _, job := range jobs {
		table = append(table, []string{job.what})
	}
	table = append(table,
		[]string{fmt.Sprintf("[steps that you do, of %d](scripts/docs/steps.md)", len(steps))},
		[]string{"**all Go written by hand**"},
		[]string{"generated Go"},
		[]string{"manifests and scripts, by hand"},
		[]string{"lines to read after the previous chapter"},
		[]string{fmt.Sprintf("[faults](scripts/acceptance/MATRIX.md) survived, of %d", len(contract.Faults()))},
	)
	rows, err := chapterdiff.Rows(all)
	if err != nil {
		return "", err
	}
	for _, row := range rows {
		column, err := columnOf(row)
		if err != nil {
			return "", err
		}
		for i, cell := range column {
			table[i] = append(table[i], cell)
		}
	}
	solved, err := chapterdiff.Rows(chapters.TDSets(all))
	if err != nil {
		return "", err
	}
	code, toRead := []string{"all Go written by hand for TDSet"}, []string{"lines to read after the previous chapter's TDSet"}
	for _, row := range solved {
		code, toRead = append(code, cell(row.Code)), append(toRead, cell(row.ToRead()))
	}
	return markdown(append(table, code, toRead)), nil
}

func columnOf(row chapterdiff.Row) ([]string, error) {
	counts := make([]int, len(jobs))
	for _, part := range row.Parts {
		i := jobOf(part)
		if i < 0 {
			return nil, fmt.Errorf("%s/%s belongs to no job: add it to one in scripts/internal/overview/overview.go", row.Chapter.Name, part.File)
		}
		counts[i]++
	}
	column := []string{row.Chapter.Number()}
	for _, n := range counts {
		column = append(column, cell(n))
	}
	_, yours, err := stepsIn(row)
	return append(column, fmt.Sprint(yours), fmt.Sprintf("**%d**", row.Code), cell(row.Generated), cell(row.Manifests),
		cell(row.ToRead()), fmt.Sprint(survived(row.Chapter))), err
}

func jobOf(part chapterdiff.Part) int {
	if i := slices.IndexFunc(jobs, func(j job) bool { return slices.Contains(j.names, part.Declaration) }); i >= 0 {
		return i
	}
	return slices.IndexFunc(jobs, func(j job) bool { return j.files.MatchString(part.File) })
}

// survived counts the faults through which the chapter's own program keeps its promises.
func survived(chapter chapters.Chapter) (n int) {
	for _, fault := range contract.Faults() {
		if contract.WhyNotHeld(chapter, fault.Name) == "" {
			n++
		}
	}
	return n
}

func cell(n int) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprint(n)
}
