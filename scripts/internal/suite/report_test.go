package suite

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// Each test runs the real go test on a small module.
func TestReport(t *testing.T) {
	const heading = "package a\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nvar _ = os.Exit\n\n"
	for sentence, test := range map[string]struct {
		source       string
		want         string
		held, failed int
	}{
		"promises in the order of the source, and only the first message of a failed one": {
			`func TestContract(t *testing.T) {
				t.Run("01-a", func(t *testing.T) {
					t.Run("B4 drift: a manual change is reverted", func(t *testing.T) {
						t.Parallel()
						t.Cleanup(func() { t.Log("the circumstances") })
						println("printed")
						t.Fatal("it isn't:\nnot at all")
					})
					t.Run("B4 drift: other's are left alone", func(t *testing.T) { t.Parallel() })
				})
			}
			func TestDeclaration(t *testing.T) { t.Run("it is fine", func(t *testing.T) {}) }`,
			"✗ B4 drift: a manual change is reverted\n    it isn't:\n    not at all\n✓ B4 drift: other's are left alone\n",
			1, 1,
		},
		"a fault with the promises below it": {
			`func TestFaults(t *testing.T) {
				t.Run("01-a", func(t *testing.T) {
					for _, fault := range []string{"F1 cut", "F2 gone"} {
						t.Run(fault, func(t *testing.T) {
							t.Parallel()
							t.Run("B1 create", func(t *testing.T) {})
							t.Run("B2 scale", func(t *testing.T) { if fault == "F2 gone" { t.Error("no") } })
						})
					}
				})
			}`,
			"✓ F1 cut, B1 create\n✓ F1 cut, B2 scale\n✓ F2 gone, B1 create\n✗ F2 gone, B2 scale\n    no\n",
			3, 1,
		},
		"what fails above the promises": {
			`func TestContract(t *testing.T) { t.Run("01-a", func(t *testing.T) { t.Fatal("no cluster") }) }`,
			"no cluster\n",
			0, 1,
		},
		"an unfinished promise isn't kept": {
			`func TestContract(t *testing.T) {
				t.Run("01-a", func(t *testing.T) { t.Run("B1 create", func(t *testing.T) { os.Exit(3) }) })
			}`,
			"✗ B1 create\n    it exited without a message\n",
			0, 1,
		},
		"tests that don't build": {
			"func TestContract(t *testing.T) { undefined() }",
			"./a_test.go:10:35: undefined: undefined\n",
			0, 1,
		},
		"no promise": {"func TestDeclaration(t *testing.T) {}", "", 0, 0},
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := t.TempDir()
			testkit.Write(t, dir, map[string]string{
				"go.mod": "module a\n\ngo 1.26\n", "a_test.go": heading + test.source,
			})
			results, err := gotest.Run(t.Context(), gotest.Request{
				Dir: dir, Env: []string{"GOWORK=off"}, Args: []string{"-vet=off", "."},
			})
			if err != nil {
				t.Fatal(err)
			}
			var page strings.Builder
			shown := report{out: &page, colours: ui.NewPalette(false)}
			shown.add(results)
			if !strings.Contains(page.String(), test.want) {
				t.Errorf("got\n%s\nwant\n%s", page.String(), test.want)
			}
			if shown.held != test.held || shown.failed != test.failed {
				t.Errorf("%d held and %d failed, want %d and %d", shown.held, shown.failed, test.held, test.failed)
			}
		})
	}
}
