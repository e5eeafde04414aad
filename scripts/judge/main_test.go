package main

import (
	"os/exec"
	"strings"
	"testing"
)

// The judge stands alone: it builds in seconds, and needs nothing of the course.
func TestTheJudgeStandsAlone(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "go", "list", "-deps", ".")
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(output)) {
		for _, heavy := range []string{
			"helm.sh/", "sigs.k8s.io/kind", "github.com/chromedp/", "github.com/yuin/goldmark",
			"example.com/operators/scripts/internal/chapters", "example.com/operators/scripts/internal/cluster",
		} {
			if strings.HasPrefix(path, heavy) {
				t.Errorf("the judge imports %s", path)
			}
		}
	}
}
