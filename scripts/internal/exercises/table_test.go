package exercises

import (
	"slices"
	"testing"
	"time"

	"example.com/operators/scripts/internal/ui"
)

func TestTable(t *testing.T) {
	root := t.TempDir()
	one := writeSum(t, root, "01-a", "1-one", nil)
	writeSum(t, root, "01-a", "2-two", map[string]string{"README.md": ""})
	writeSum(t, root, "01-a", "10-ten", nil)
	writeSum(t, root, "02-b", "1-one", nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if err := UpdateProgress(t.Context(), root, one, func(r *Record) { *r = Record{Passing: true, Passed: &at, Hints: 2} }); err != nil {
		t.Fatal(err)
	}
	all, err := All(root)
	if err != nil {
		t.Fatal(err)
	}
	progress, err := ReadProgress(root)
	if err != nil {
		t.Fatal(err)
	}
	if open, found := FirstOpen(all, progress); !found || open.Name() != "01/2" {
		t.Errorf("the first open one is %s", open.Name())
	}
	want := `01-a: 1 of 3 passed (33 %)
  ✓ 01/1   Sums   5 min  2 hints
  · 01/2   2-two
  · 01/10  Sums   5 min

02-b: 0 of 1 passed (0 %)
  · 02/1  Sums  5 min

In all: 1 of 4 passed (25 %)
`
	if got, want := Rows(all, progress, ui.NewPalette(false)), []string{
		"✓ 01/1   Sums   5 min  2 hints", "· 01/2   2-two", "· 01/10  Sums   5 min", "· 02/1   Sums   5 min",
	}; !slices.Equal(got, want) {
		t.Errorf("rows: got %q, want %q", got, want)
	}
	if got, want := Bar(all, progress), "[███░░░░░░░░░░░] 1/4 passed"; got != want {
		t.Errorf("bar: got %s, want %s", got, want)
	}
	if got := Table(all, progress, ui.NewPalette(false)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
