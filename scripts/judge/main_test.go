package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The judge stands alone: it builds quickly, and needs no other part of the course.
func TestTheJudgeStandsAlone(t *testing.T) {
	packages, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range []string{
		"helm.sh/", "sigs.k8s.io/kind", "github.com/chromedp/", "github.com/yuin/goldmark",
		"example.com/operators/scripts/internal/chapters", "example.com/operators/scripts/internal/cluster",
	} {
		if strings.Contains(string(packages), "\n"+other) {
			t.Errorf("the judge imports %s", other)
		}
	}
}
