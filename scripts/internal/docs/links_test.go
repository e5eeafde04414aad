package docs

import (
	"slices"
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
		want []string
	}{
		"to a file":                     {text: "[x](../README.md)"},
		"to a directory":                {text: "[x](../scripts/) [y](..)"},
		"to an image":                   {text: "![x](a%20b.png)"},
		"outside, which is not fetched": {text: "[x](https://example.com/gone#x) <https://example.com> [m](mailto:a@example.com)"},
		"by reference":                  {text: "[x][r]\n\n[r]: ../README.md"},
		"to a line of source":           {text: "[x](../scripts/tool.go#L10)"},
		"to a heading of this file":     {text: "# Run `it`: *now* & then\n\n[x](#run-it-now--then)"},
		"to a heading with letters that aren't ASCII": {text: "# Über 410 …\n[x](#über-410-)"},
		"to a heading of another file":                {text: "[x](../README.md#glossary)"},
		"to a heading of a directory's README":        {text: "[x](..#glossary)"},
		"a link in code isn't checked":                {text: "`[x](gone)`\n\n'''\n[x](gone)\n'''"},

		"to a missing file":                    {text: "\n[x](gone.md)", want: []string{`01-x/TEXT.md:2: link "gone.md": there is no 01-x/gone.md`}},
		"to a missing image":                   {text: "![x](gone.png)", want: []string{"there is no 01-x/gone.png"}},
		"in a table to a missing file":         {text: "| a |\n| --- |\n| [x](gone.md) |", want: []string{"01-x/TEXT.md:3: "}},
		"out of the repository":                {text: "[x](../../etc)", want: []string{"../../etc is outside the repository"}},
		"to a missing heading":                 {text: "[x](#gone)", want: []string{"01-x/TEXT.md has no heading with the anchor #gone"}},
		"to a missing heading of another file": {text: "[x](../README.md#gone)", want: []string{"README.md has no heading with the anchor #gone"}},
		"to a section that its title quotes":   {text: "[x](../README.md#glossary 'A term')", want: nil},
		"to a text that its title quotes":      {text: "[x](../README.md 'A term')", want: nil},
		"to a section without its title":       {text: "[x](../README.md#more 'A term')", want: []string{`the text it leads to doesn't say "A term", the link's title`}},
		"outside, with a title":                {text: "[x](https://example.com 'A term')", want: nil},
		"to a test":                            {text: "[`TestIt/it is fed/twice`](../scripts/it_test.go)", want: nil},
		"to a missing test":                    {text: "[TestI](../scripts/it_test.go)", want: []string{`scripts/it_test.go has no test TestI`}},
		"to a missing subtest":                 {text: "[`TestIt/it is full`](../scripts/it_test.go)", want: []string{`scripts/it_test.go has no subtest "it is full"`}},
		"to a method, which isn't a test":      {text: "[`TestOf`](../scripts/it_test.go)", want: []string{`scripts/it_test.go has no test TestOf`}},
		"nowhere":                              {text: "[x]()", want: []string{"it leads nowhere"}},
		"an invalid URL":                       {text: "[x](%zz)", want: []string{"invalid URL escape"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := repository(t, map[string]string{
				"01-x/TEXT.md":       markdownText(test.text),
				"01-x/a b.png":       "",
				"README.md":          "# Top\n\n## Glossary\n\nA *term*\n\n## More\n",
				"scripts/tool.go":    "",
				"scripts/it_test.go": "package x\n\nfunc TestIt(t *testing.T) {\n\tt.Run(\"it is fed\", func() { t.Run(`twice`, nil) })\n}\n\nfunc (x) TestOf() {}\n",
			})
			problems, err := (Repository{Root: root}).CheckText("01-x/TEXT.md")
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, test.want...)
		})
	}
}

func TestAChaptersHeadings(t *testing.T) {
	tests := map[string]struct {
		headings []string
		words    int
		want     []string
	}{
		"all, in order":       {headings: chapterHeadings},
		"too many words":      {headings: chapterHeadings, words: 3000, want: []string{"words, and 3000 are enough"}},
		"none":                {want: []string{`01-x/README.md:2: the chapter's second-level heading "The problem" is missing`}},
		"one is missing":      {headings: slices.Delete(slices.Clone(chapterHeadings), 1, 2), want: []string{`heading 2 is "The idea", not "Run it"`}},
		"the last is missing": {headings: chapterHeadings[:7], want: []string{`"You now know" is missing`}},
		"one is too much":     {headings: append(slices.Clone(chapterHeadings), "Thanks"), want: []string{`no heading "Thanks" after "You now know"`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := []string{"# Chapter", ""}
			for _, heading := range test.headings {
				text = append(text, "## "+heading, "### free")
			}
			if test.words > 0 {
				text = append(text, strings.Repeat("word ", test.words))
			}
			root := repository(t, map[string]string{"01-x/README.md": markdownText(text...)})
			problems, err := (Repository{Root: root}).CheckText("01-x/README.md")
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, test.want...)
		})
	}
}
