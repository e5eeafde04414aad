package docs

import (
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestTables(t *testing.T) {
	tables := Tables{
		"sizes":  func(string) (string, error) { return "| a |\n| --- |\n| 1 |\n", nil },
		"broken": func(string) (string, error) { return "", errors.New("it can't be counted") },
	}
	for sentence, test := range map[string]struct {
		text, written string // written is "" where nothing is
		want          []string
	}{
		"the table is up to date":     {"<!-- table: sizes -->\n| a |\n| --- |\n| 1 |\n\nAfter.\n", "", nil},
		"another number":              {"Before.\n\n<!-- table: sizes -->\n| a |\n| --- |\n| 2 |\n| 3 |\n\nAfter.\n", "Before.\n\n<!-- table: sizes -->\n| a |\n| --- |\n| 1 |\n\nAfter.\n", []string{"README.md:3: the text differs from its source, <!-- table: sizes -->"}},
		"with a blank line before it": {"<!-- table: sizes -->\n\n| a |\n| --- |\n| 2 |\n", "<!-- table: sizes -->\n\n| a |\n| --- |\n| 1 |\n", []string{"differs"}},
		"an unknown table":            {"<!-- table: lines -->\n| a |\n| --- |\n", "", []string{"<!-- table: lines -->: nobody counts that table"}},
		"no table follows":            {"<!-- table: sizes -->\n\nText.\n", "", []string{"no table follows this marker"}},
		"the function fails":          {"<!-- table: broken -->\n| a |\n| --- |\n", "", []string{"it can't be counted"}},
		"a marker without a name":     {"<!-- table: -->\n| a |\n| --- |\n", "", []string{"a marker is"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := repository(t, map[string]string{"README.md": test.text})
			r := Repository{Root: root, Tables: tables}
			problems, err := r.CheckText("README.md")
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, test.want...)
			changed, err := r.Write("README.md")
			if wrote, fails := test.written != "", len(test.want) > 0 && test.written == ""; wrote != (len(changed) == 1) || fails != (err != nil) {
				t.Errorf("written: %v, error %v", changed, err)
			}
			got, err := os.ReadFile(filepath.Join(root, "README.md"))
			if want := cmp.Or(test.written, test.text); err != nil || string(got) != want {
				t.Errorf("got\n%s\nwant\n%s\nerror %v", got, want, err)
			}
		})
	}
}
