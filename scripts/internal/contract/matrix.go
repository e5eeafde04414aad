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
		text.WriteString("## Foos\n\nThe operators of chapters 01 to 06 make these promises. While nothing goes wrong, they keep all of them:\n\n")
		foos.writePromises(&text)
		text.WriteString("\n")
	}
	text.WriteString(`## TDSets

The operators for TDSets make these promises. They are chapter 07's program and, in the other chapters, the solutions of the TDSet exercise. T7, T8
and T9 ask more of chapter 07, because it also creates Services, and waits for the Pods of a deleted TDSet.

`)
	tdsets.writePromises(&text)
	text.WriteString("\nWhile nothing goes wrong, these programs keep the promises. A dash means that the promise isn't tested.\n\n")
	writeCells(&text, "promise", tdsets.Promises, all, func(chapters.Chapter) Contract { return tdsets })
	text.WriteString(`
## Faults

Each cell is a check of the chapter's own program by the [judge](../docs/judge.md). It creates some Foos or TDSets and waits until they are ready.
Then the fault begins, and the judge creates, changes and deletes objects, and changes and deletes what the program owns. *Yes* means that in the end
every promise is kept, perhaps late. For example, nothing can be written while the API server can't be reached (F3). *No* means that the judge finds
the fault's effect each time, and *sometimes* that it depends on the moment.
B10 and T12, about bad input, are only tested without faults.

`)
	writeCells(&text, "fault", Faults(), all, func(chapter chapters.Chapter) Contract { return Of(chapter.Kind()) })
	writeOnKind(&text)
	text.WriteString("\n## Run a cell yourself\n\n`./scripts/workshop test 01 --only F5` runs the tests of F5 for chapter 01. " +
		"Without `01`, it runs them for all chapters.\n`--only T2` does the same for a promise. To watch a fault, " +
		"run `./scripts/workshop faults 01 F5`.\n")
	return text.String()
}

// writeOnKind writes which tests are left out where containers are real.
func writeOnKind(text *strings.Builder) {
	text.WriteString("\n## On kind\n\n`./scripts/workshop test --on kind` runs the promises' tests on a cluster with real containers. " +
		"It adds tests that need containers, and leaves out\n\n")
	left := LeftOut()
	for _, what := range slices.Sorted(maps.Keys(left)) {
		fmt.Fprintf(text, "- %s, because %s.\n", what, left[what])
	}
}

// writeCells writes a table with these rows and chapters, and below it the reasons for each cell that
// isn't a plain yes.
func writeCells(text *strings.Builder, what string, rows []Named, all []chapters.Chapter, of func(chapters.Chapter) Contract) {
	head := []string{what}
	for _, chapter := range all {
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
		for _, chapter := range all {
			c, cell := of(chapter), "yes"
			if reason := c.WhyNotHeld(chapter, named.Name); reason != "" {
				cell = because("no", reason)
			} else if reason := c.WhyNotTested(chapter, named.Name); reason != "" {
				cell = because("–", reason)
			} else if reason := c.byChance[chapter.Number()][named.Name]; reason != "" {
				cell = because("sometimes", reason)
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
