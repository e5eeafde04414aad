// Tests of which programs share a CRD.

package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/program"
)

// 06's CRD is generated, and all others are written by hand, but they mean the same.
func TestFoosHaveOneCRD(t *testing.T) {
	all, err := chapters.All("../..")
	if err != nil {
		t.Fatal(err)
	}
	var foos []judged
	for _, chapter := range all {
		p, found, err := program.Of(chapter, chapters.Foo)
		if err != nil {
			t.Fatal(err)
		}
		if found {
			foos = append(foos, judged{chapter: chapter, program: p})
		}
	}
	groups, err := sameCRD(foos)
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 1 || len(groups[0]) != 6 {
		t.Errorf("%d chapters have %d different CRDs, want one", len(foos), len(groups))
	}
}

func TestMeaning(t *testing.T) {
	const crd = "spec:\n  properties:\n    replicas: {type: integer, maximum: 10, description: How many.}\n    description: {type: string}\n"
	for sentence, test := range map[string]struct {
		from, to string
		same     bool
	}{
		"another description":              {"How many.", "How many Pods.", true},
		"a comment":                        {"spec:", "# Ours.\nspec:", true},
		"another order":                    {"type: integer, maximum: 10", "maximum: 10, type: integer", true},
		"another limit":                    {"10", "11", false},
		"another field called description": {"    description: {type: string}", "    description: {type: integer}", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var meanings []string
			for _, content := range []string{crd, strings.Replace(crd, test.from, test.to, 1)} {
				file := filepath.Join(t.TempDir(), "crd.yaml")
				if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
				meant, err := meaning(file)
				if err != nil {
					t.Fatal(err)
				}
				meanings = append(meanings, meant)
			}
			if same := len(slices.Compact(meanings)) == 1; same != test.same {
				t.Errorf("same meaning: %v, want %v\n%s", same, test.same, strings.Join(meanings, "\n"))
			}
		})
	}
}
