// The matrix, for readers: which chapter keeps the promises through which fault. MATRIX.md has its
// output.

package contract

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"example.com/operators/scripts/internal/chapters"
)

// Matrix returns the declarations for these chapters as Markdown that is readable in a terminal
// too.
func Matrix(all []chapters.Chapter) string {
	var text strings.Builder
	text.WriteString(`# Which chapter survives which fault

Every chapter's operator makes the same promises, and the same tests check them. This page lists the promises, and shows which chapters keep
them when something goes wrong. Texts and tests use short names: B4 is a promise about Foos, T2 one about TDSets, and F5 a fault.

`)
	foos, tdsets := foos(), tdsets()
	if slices.ContainsFunc(all, foos.AppliesTo) {
		text.WriteString("## Foos\n\nThe operators of chapters 01 to 06 promise this. While nothing goes wrong, they keep every promise:\n\n")
		foos.writePromises(&text)
		text.WriteString(`
In the next table, each cell is a test of one chapter's program under one fault. The test creates Foos and waits until nothing changes. Then
the fault strikes while the test creates, scales, renames and deletes Foos, and changes and deletes Deployments by hand. *Yes* means that in
the end every promise is kept, perhaps late. For example, nothing can be written while the API server is down (F3). Each *no* has a test
that shows what goes wrong. B10, on bad input, is only tested without faults.

`)
		foos.write(&text, Faults(), all)
		text.WriteString("\n")
	}
	text.WriteString(`## TDSets

The operators for TDSets promise this. They are chapter 07's program and, in the other chapters, the solutions of the last exercise. T7, T8 and
T9 ask more of chapter 07, because it also creates Services, and waits for the Pods of a deleted TDSet.

`)
	tdsets.writePromises(&text)
	text.WriteString(`
In the first rows of the next table, nothing goes wrong. In the others, a fault strikes while TDSets are created, changed and deleted,
Deployments are changed by hand, and an hour begins at which TDSets have to be scaled. A dash means that this isn't tested.

`)
	tdsets.write(&text, slices.Concat(tdsets.Promises, Faults()), all)
	writeOnKind(&text)
	text.WriteString("\n## Run a cell yourself\n\n`./scripts/workshop test 01 --only F5` runs the tests of F5 for chapter 01, in both tables. " +
		"Without the 01, it runs them for all chapters.\n`--only T2` does the same for a promise. To watch a fault, " +
		"run `./scripts/workshop faults 01 F5`.\n")
	return text.String()
}

// writeOnKind writes which tests are left out where containers are real.
func writeOnKind(text *strings.Builder) {
	text.WriteString(`
## On kind

` + "`./scripts/workshop test --on kind`" + ` runs these tests on a cluster with real containers: once with all programs outside it, and once with
those of chapters 03 to 07 in Pods. It adds tests that need containers, and leaves out

`)
	outside, inside := LeftOut(false), LeftOut(true)
	var proxied []string
	for _, what := range slices.Sorted(maps.Keys(inside)) {
		if why, always := outside[what]; always {
			fmt.Fprintf(text, "- %s, because %s;\n", what, why)
		} else {
			proxied = append(proxied, what)
		}
	}
	fmt.Fprintf(text, "- %s for programs in Pods, because %s.\n", strings.Join(proxied, ", "), inside[proxied[0]])
}

// write writes the contract's table with these rows, and below it the reasons for each cell that
// isn't a plain yes.
func (c Contract) write(text *strings.Builder, rows []Named, all []chapters.Chapter) {
	covered := slices.DeleteFunc(slices.Clone(all), func(chapter chapters.Chapter) bool { return !c.AppliesTo(chapter) })
	head := []string{"fault"}
	if !rows[0].IsFault() {
		head[0] = "promise or fault"
	}
	for _, chapter := range covered {
		head = append(head, chapter.Number())
	}
	table := [][]string{head, slices.Repeat([]string{"---"}, len(head))}
	var reasons []string
	because := func(says, reason string) string {
		if !slices.Contains(reasons, reason) {
			reasons = append(reasons, reason)
		}
		return fmt.Sprintf("%s (%d)", says, slices.Index(reasons, reason)+1)
	}
	for _, named := range rows {
		row := []string{named.Name + " " + named.What}
		for _, chapter := range covered {
			cell := "yes"
			if reason := c.WhyNotHeld(chapter, named.Name); reason != "" {
				cell = because("no", reason)
			} else if reason := c.WhyNotTested(chapter, named.Name); reason != "" {
				cell = because("–", reason)
			} else if condition := c.provided[chapter.Number()][named.Name]; condition != "" {
				cell = because("yes", condition)
			}
			row = append(row, cell)
		}
		table = append(table, row)
	}
	writeTable(text, table)
	for i, reason := range reasons {
		fmt.Fprintf(text, "%s%d. %s%s.\n", map[bool]string{true: "\n"}[i == 0], i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
}

func (c Contract) writePromises(text *strings.Builder) {
	table := [][]string{{"promise", "means"}, {"---", "---"}}
	for _, promise := range c.Promises {
		table = append(table, []string{promise.Name + " " + promise.What, promise.Means})
	}
	writeTable(text, table)
}

func writeTable(text *strings.Builder, rows [][]string) {
	table := tabwriter.NewWriter(text, 0, 0, 1, ' ', 0)
	for _, row := range rows {
		fmt.Fprintf(table, "| %s\t|\n", strings.Join(row, "\t| "))
	}
	_ = table.Flush() // writes to memory, so it can't fail
}
