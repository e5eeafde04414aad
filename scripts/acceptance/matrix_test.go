// The matrix: which chapter holds the promises through which fault. It is declared here, tested by the scenarios, and written
// to MATRIX.md for readers.

package acceptance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
)

// notHeld says, by chapter number and fault, why the promises aren't held. All that isn't named here is held, and tested.
func notHeld() map[string]map[string]string {
	const lost = "a write that fails is lost until something else happens to the Foo"
	const deaf = "client-go has no deadline for a watch that is silent (not asserted: it stays deaf for minutes)"
	const two = "there is no leader election: two copies work at once (not asserted)"
	return map[string]map[string]string{
		"01": {"F4a": lost, "F4b": lost, "F4c": lost, "F7": two, "F8": lost},
		"02": {"F4a": lost, "F4c": lost, "F6b": deaf, "F7": two, "F8": lost},
	}
}

// holds tells whether the chapter is declared to hold the promises through the fault.
func holds(chapter chapters.Chapter, fault string) bool {
	_, not := notHeld()[chapter.Number()][fault]
	return !not
}

// columns are all faults of the matrix, in order.
func columns() [][2]string {
	all := [][2]string{
		{"F3", "the API server killed and started again"},
		{"F7", "two copies running: one leads, and the other takes over"},
	}
	for _, fault := range faults() {
		all = append(all, [2]string{fault.name, fault.what})
	}
	slices.SortFunc(all, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
	return all
}

// TestMatrix holds MATRIX.md to the declarations. UPDATE=1 writes it.
func TestMatrix(t *testing.T) {
	all, err := chapters.All("../..")
	if err != nil {
		t.Fatal(err)
	}
	want := matrix(all)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("MATRIX.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("MATRIX.md")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Error("MATRIX.md isn't what is declared: UPDATE=1 go test ./acceptance -run TestMatrix writes it")
	}
}

func matrix(all []chapters.Chapter) string {
	var text strings.Builder
	text.WriteString(`# Which chapter survives what

Each cell is a test in this folder: Foos settle, the fault strikes while they are created, scaled, renamed, deleted and interfered with,
and then the promises B1 to B9 and B11 are judged one by one. Where a cell says no, a test shows that too, unless the reason says otherwise.

| fault |`)
	for _, chapter := range all {
		fmt.Fprintf(&text, " %s |", chapter.Name)
	}
	text.WriteString("\n| --- |" + strings.Repeat(" --- |", len(all)) + "\n")
	var reasons []string
	for _, column := range columns() {
		fmt.Fprintf(&text, "| %s %s |", column[0], column[1])
		for _, chapter := range all {
			reason, not := notHeld()[chapter.Number()][column[0]]
			if !not {
				text.WriteString(" yes |")
				continue
			}
			if !slices.Contains(reasons, reason) {
				reasons = append(reasons, reason)
			}
			fmt.Fprintf(&text, " no (%d) |", slices.Index(reasons, reason)+1)
		}
		text.WriteString("\n")
	}
	text.WriteString("\n")
	for i, reason := range reasons {
		fmt.Fprintf(&text, "%d. %s%s.\n", i+1, strings.ToUpper(reason[:1]), reason[1:])
	}
	return text.String()
}
