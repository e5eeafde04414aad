package docs

import (
	"strings"
	"testing"
)

// chapter is a README with the headings of every chapter.
func chapter() string {
	return "## " + strings.Join(chapterHeadings, "\n\n## ")
}

func TestLinks(t *testing.T) {
	tests := map[string]struct {
		text string
		want string // a problem
	}{
		"to a file":                     {"[x](../README.md)", ""},
		"to a directory":                {"[x](../scripts/) [y](..)", ""},
		"outside, which is not fetched": {"[x](https://example.com/gone#x) [m](mailto:a@example.com)", ""},
		"to a heading of this file":     {"# Run `it`: *now* & then\n\n[x](#run-it-now--then)", ""},
		"to a heading of another file":  {"[x](../README.md#glossary)", ""},

		"to a missing file":               {"\n[x](gone.md)", `TEXT.md:2: link "gone.md": there is no 01-x/gone.md`},
		"out of the repository":           {"[x](../../etc)", "../../etc is outside the repository"},
		"to a missing heading":            {"[x](#gone)", "TEXT.md has no heading with the anchor #gone"},
		"to a text that its title quotes": {"[x](../README.md 'A term')", ""},
		"to a section without its title":  {"[x](../README.md#more 'A term')", `doesn't say "A term"`},
		"to a test":                       {"[`TestIt/it is fed/twice`](../scripts/it_test.go)", ""},
		"to a missing test":               {"[TestI](../scripts/it_test.go)", `scripts/it_test.go has no test TestI`},
		"to a missing subtest":            {"[`TestIt/it is full`](../scripts/it_test.go)", `has no subtest "it is full"`},
		"nowhere":                         {"[x]()", "it leads nowhere"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := repository(t, map[string]string{
				"01-x/TEXT.md":       markdownText(test.text),
				"README.md":          "# Top\n\n## Glossary\n\nA *term*\n\n## More\n",
				"scripts/tool.go":    "",
				"scripts/it_test.go": "package x\n\nfunc TestIt(t *testing.T) {\n\tt.Run(\"it is fed\", twice)\n}\n",
			})
			var want []string
			if test.want != "" {
				want = []string{test.want}
			}
			wantProblems(t, CheckText(root, "01-x/TEXT.md"), want...)
		})
	}
}

func TestAChaptersHeadings(t *testing.T) {
	root := repository(t, map[string]string{
		"01-x/README.md": chapter() + "\n\n### Free\n",
		"02-x/README.md": chapter() + "\n\n## Thanks\n",
	})
	wantProblems(t, CheckText(root, "01-x/README.md"))
	wantProblems(t, CheckText(root, "02-x/README.md"), "02-x/README.md: the second-level headings are")
}
