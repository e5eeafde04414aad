package checks

import (
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testfiles"
)

func TestCarries(t *testing.T) {
	good := map[string]string{
		"01-a/exercises/5-tdset/solution.go": "//go:build solution\n\npackage main\n\n// at is when.\nfunc at() int { return 9 }\n",
		"02-b/exercises/5-tdset/carry.yaml":  "- {from: 01/5, take: [at], to: schedule.go}\n",
		"02-b/exercises/5-tdset/schedule.go": "// The schedule.\n\npackage main\n\n// at is when.\nfunc at() int { return 9 }\n",
	}
	for sentence, test := range map[string]struct{ file, old, now, want string }{
		"all is well": {},
		"the given file has something else": {
			"02-b/exercises/5-tdset/schedule.go", "return 9", "return 8",
			"02-b/exercises/5-tdset/schedule.go: it isn't what the solution of 01/5 has, which is:\n// The schedule.\n\npackage main\n\n// at is when.\nfunc at() int { return 9 }\n",
		},
		"the solution doesn't declare it": {
			"02-b/exercises/5-tdset/carry.yaml", "[at]", "[until]",
			"02-b/exercises/5-tdset/carry.yaml: 01-a/exercises/5-tdset/solution.go declares no until",
		},
		"it is from a later exercise": {
			"02-b/exercises/5-tdset/carry.yaml", "01/5", "03/5",
			"02-b/exercises/5-tdset/carry.yaml: there is no exercise 03/5 before this one",
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			files := map[string]string{}
			for name, content := range good {
				if name == test.file {
					content = strings.Replace(content, test.old, test.now, 1)
				}
				files[name] = content
			}
			got, err := run(t.Context(), testfiles.Write(t, t.TempDir(), files), carries)
			if err != nil || strings.Join(got, "\n") != test.want {
				t.Errorf("problems %q, want %q; error %v", got, test.want, err)
			}
		})
	}
}
