package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	const table = "| promise | means |\n| --- | --- |\n"
	for sentence, test := range map[string]struct {
		text    string
		want    string // a problem
		written bool   // and fixed
	}{
		"an old table": {
			"<!-- table: foo-promises -->\n" + table + "<!-- end -->\nAfter.\n", "`workshop docs --write` updates", true,
		},
		"an unknown table": {"<!-- table: lines -->\n" + table + "<!-- end -->\n", `there is no table "lines"`, false},
		"without an end":   {"<!-- table: foo-promises -->\n" + table, "no <!-- end --> follows", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := repository(t, map[string]string{"README.md": test.text})
			wantProblems(t, CheckText(root, "README.md"), test.want)
			if _, err := Write(root, "README.md"); (err == nil) != test.written {
				t.Errorf("error %v", err)
			}
			got, err := os.ReadFile(filepath.Join(root, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			written := strings.Contains(string(got), "| B1 create") && strings.HasSuffix(string(got), "<!-- end -->\nAfter.\n")
			if written != test.written {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
