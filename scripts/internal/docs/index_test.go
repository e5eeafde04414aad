package docs

import (
	"strings"
	"testing"
)

func TestTheGlossaryLinksToExplanations(t *testing.T) {
	const head = "# Glossary\n\n| term | meaning |\n| --- | --- |\n"
	for sentence, test := range map[string]struct {
		row  string
		want []string
	}{
		"the section uses the term":             {"| [tombstone](../../01-x/README.md#the-end) | what is left |", nil},
		"in small letters, without its bracket": {"| [Tombstone (410)](../../01-x/README.md#the-end) | what is left |", nil},
		"a section below counts as well":        {"| [stone](../../01-x/README.md#the-beginning) | hard |", nil},
		"another section does":                  {"| [tombstone](../../01-x/README.md#the-beginning) | what is left |", []string{`scripts/docs/glossary.md:5: glossary, "tombstone": the section ../../01-x/README.md#the-beginning doesn't mention it`}},
		"no section is named":                   {"| [tombstone](../../01-x/README.md) | what is left |", []string{"it needs a link to the section that explains it"}},
		"no link":                               {"| tombstone | what is left |", []string{"it needs a link to the section that explains it"}},
		"a link that leads nowhere":             {"| [tombstone](../../01-x/README.md#no) | what is left |", []string{"no heading with the anchor #no"}},
		"too many terms": {
			strings.Repeat("| [tombstone](../../01-x/README.md#the-end) | what is left |\n", 27),
			[]string{"scripts/docs/glossary.md:31: the glossary has 27 terms, and 26 are enough"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := repository(t, map[string]string{
				"scripts/docs/glossary.md": head + test.row + "\n",
				"01-x/README.md":           "# X\n\n## The beginning\n\n### Below\n\nA stone.\n\n## The end\n\nA **tombstone** comes.\n",
			})
			problems, err := Repository{Root: root}.CheckText("scripts/docs/glossary.md")
			if err != nil {
				t.Fatal(err)
			}
			wantProblems(t, problems, test.want...)
		})
	}
}

func TestEachMessageIsInATestOrInAText(t *testing.T) {
	root := repository(t, map[string]string{
		"scripts/docs/troubleshooting.md": "# Troubleshooting\n\n| message | fix |\n| --- | --- |\n" +
			"| `is the CRD applied` | a test's |\n" +
			"| `kubeconfig … names no cluster` | with something between |\n" +
			"| `names no cluster … kubeconfig` | the wrong way round |\n" +
			"| `Conflict` | a command's |\n" +
			"| `nobody says this` | |\n" +
			"| `prose` | |\n" +
			"| `in a comment` | |\n",
		"01-x/TEXT.md":      markdownText("prose", "", "'''console", "$ kubectl apply", "Error: Conflict", "'''"),
		"01-x/main_test.go": "package x\n\n// in a comment\nvar want = []string{\"x: is the CRD applied?\", `kubeconfig \"a\" names no cluster`}\n",
		"01-x/main.go":      "package x\n\nvar s = \"nobody says this\"\n",
	})
	problems, err := Repository{Root: root}.CheckText("scripts/docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	wantProblems(t, problems,
		`scripts/docs/troubleshooting.md:7: no test, and no command in a text, has anything to do with the message "names no cluster … kubeconfig"`,
		`scripts/docs/troubleshooting.md:9: no test, and no command in a text, has anything to do with the message "nobody says this"`,
		`"prose"`, `"in a comment"`)
}
