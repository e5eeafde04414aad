package docs

import (
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

func TestMatch(t *testing.T) {
	tests := map[string]struct {
		shown, output string
		whole         bool
		used          int // lines; -1: what is shown has not appeared
		why           string
	}{
		"the same":                           {shown: "a|b", output: "a|b", whole: true, used: 2},
		"columns of another width":           {shown: "NAME  READY", output: "NAME      READY   ", whole: true, used: 1},
		"a missing space":                    {shown: "a b", output: "ab", used: -1, why: `line 1 of the output is "ab", expected "a b"`},
		"an unexpected indent":               {shown: "a", output: " a", used: -1, why: `line 1 of the output is " a", expected "a"`},
		"characters of regular expressions":  {shown: "a.*(b)", output: "a.*(b)", whole: true, used: 1},
		"a dot is literal":                   {shown: "a.b", output: "axb", used: -1, why: `line 1 of the output is "axb", expected "a.b"`},
		"… in a line is any text":            {shown: "pod/foo-… created in …s", output: "pod/foo-x1 created in 3s", whole: true, used: 1},
		"… in a line isn't empty text":       {shown: "a…", output: "a", used: -1, why: `line 1 of the output is "a", expected "a…"`},
		"… in a line does not end it":        {shown: "a…c", output: "ab|c", used: -1, why: `line 1 of the output is "ab", expected "a…c"`},
		"… alone is any number of lines":     {shown: "a|…|d", output: "a|b|c|d", whole: true, used: 4},
		"… alone may be none":                {shown: "…|a|…|b|…", output: "a|b", whole: true, used: 2},
		"… alone, indented":                  {shown: "a|  …|c", output: "a|b|c", whole: true, used: 3},
		"… twice, with a false start":        {shown: "…|a|b|…|c", output: "a|x|a|b|c", whole: true, used: 5},
		"… at the end goes on":               {shown: "a|…", output: "a|b|c", whole: true, used: 1},
		"a second line differs":              {shown: "a|b", output: "a|c", used: -1, why: `line 2 of the output is "c", expected "b"`},
		"a line is missing":                  {shown: "a|b", output: "a", used: -1, why: `the output has no line "b" where it is expected`},
		"a line after … is missing":          {shown: "a|…|c", output: "a|b", used: -1, why: `the output has no line "c" where it is expected`},
		"one line too many":                  {shown: "a", output: "a|b", used: 1, why: `line 2 of the output is too much: "b"`},
		"unexpected output":                  {shown: "", output: "a", used: 0, why: `line 1 of the output is too much: "a"`},
		"no output":                          {shown: "a", output: "", used: -1, why: `the output has no line "a" where it is expected`},
		"nothing at all":                     {whole: true},
		"go's downloads, before and between": {shown: "a|b", output: "go: downloading x v1|a|go: downloading y v1|b", whole: true, used: 4},
		"go's downloads, and nothing else":   {shown: "", output: "go: downloading x v1", whole: true},
	}
	lines := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, "|")
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			shown, output := lines(test.shown), lines(test.output)
			got := compile(shown).match(output)
			if got.whole != test.whole || got.used != test.used {
				t.Errorf("whole %v, used %d; want %v, %d", got.whole, got.used, test.whole, test.used)
			}
			if test.whole {
				return
			}
			if diff := gocmp.Diff(test.why, got.why(shown, output)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
