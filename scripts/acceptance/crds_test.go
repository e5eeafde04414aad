package acceptance

// Tests of which programs share a CRD.

import (
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
