package docs

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	tests := map[string]struct {
		shown, output string
		used          int // lines; -1: what is shown has not appeared
		why           string
	}{
		"the same":                       {"a|b", "a|b", 2, ""},
		"columns of another width":       {"NAME  READY", "NAME      READY   ", 1, ""},
		"… in a line is any text":        {"pod/foo-… created in …s", "pod/foo-x1 created in 3s", 1, ""},
		"… in a line isn't empty text":   {"a…", "a", -1, `no line "a…"`},
		"… in a line does not end it":    {"a…c", "ab|c", -1, `no line "a…c"`},
		"… alone is any number of lines": {"a|…|d", "a|b|c|d", 4, ""},
		"… alone may be none":            {"…|a|…|b|…", "a|b", 2, ""},
		"a second line differs":          {"a|b", "a|c", -1, `no line "b" after its line 1`},
		"a line is missing":              {"a|b", "a", -1, `no line "b" after its line 1`},
		"one line too many":              {"a", "a|b", 1, `line 2 of the output is too much: "b"`},
	}
	lines := func(s string) []string {
		if s == "" {
			return nil
		}
		return strings.Split(s, "|")
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			used, _, why := match(lines(test.shown), lines(test.output))
			if used != test.used || (why == "") != (test.why == "") || !strings.Contains(why, test.why) {
				t.Errorf("used %d, %q; want %d, %q", used, why, test.used, test.why)
			}
		})
	}
}
