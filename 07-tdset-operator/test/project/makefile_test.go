// The Makefile's targets do what `make help` says. The tests run no target that needs a cluster or
// docker.

package project

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestHelpListsEveryTarget(t *testing.T) {
	want := targets(t)

	help := run(t, projectDir(t), "make", "help")

	var listed []string
	for _, line := range regexp.MustCompile(`(?m)^  ([a-z0-9-]+) +\S`).FindAllStringSubmatch(help, -1) {
		listed = append(listed, line[1])
	}
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("targets (-.PHONY +help):\n%s", diff)
	}
}

// A target that isn't .PHONY doesn't run if there is a file with its name.
func TestEveryTargetIsPhony(t *testing.T) {
	var rules []string
	for _, line := range regexp.MustCompile(`(?m)^([a-z0-9-]+):($|[^=])`).FindAllStringSubmatch(makefile(t), -1) {
		rules = append(rules, line[1])
	}
	if diff := cmp.Diff(rules, targets(t)); diff != "" {
		t.Errorf("targets (-rules +.PHONY):\n%s", diff)
	}
}

// make parses each target, and bash parses its commands. Nothing runs.
func TestEveryTargetParses(t *testing.T) {
	for _, target := range targets(t) {
		t.Run(target, func(t *testing.T) {
			commands := run(t, projectDir(t), "make", "--dry-run", target)

			if strings.TrimSpace(commands) == "" {
				t.Error("the target has no commands")
			}
			runWith(t, projectDir(t), commands, "bash", "-n")
		})
	}
}

// IMG sets the image in dist/install.yaml, and changes no other file.
func TestTheImageCanBeChosen(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	const image = "registry.example.com:5000/a/tdset@sha256:0123456789abcdef"
	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate")
	want := filesIn(t, clone)
	if strings.Count(want["dist/install.yaml"], "tdset-operator:dev") != 1 {
		t.Error("dist/install.yaml must contain the image exactly once")
	}
	want["dist/install.yaml"] = strings.Replace(want["dist/install.yaml"], "tdset-operator:dev", image, 1)

	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate", "IMG="+image)

	if diff := cmp.Diff(want, filesIn(t, clone)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// If only the left command of a pipe fails, the target fails too, and no file changes.
func TestAFailureLeftOfAPipe(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	before := filesIn(t, clone)
	for _, target := range []string{"build-installer", "install", "uninstall", "deploy", "undeploy", "helm-install"} {
		t.Run(target, func(t *testing.T) {
			args := []string{target, "KUSTOMIZE=false", "KUBECTL=bash -c 'test $$0 != create'", "HELM=true"}
			for _, other := range targets(t) {
				if other != target { // skip the other targets
					args = append(args, "--old-file="+other)
				}
			}

			if _, err := tryRun(t, clone, "", "make", args...); err == nil {
				t.Error("make succeeded, want an error")
			}
		})
	}
	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// targets returns the targets that .PHONY names, in that order.
func targets(t *testing.T) (names []string) {
	t.Helper()
	for _, line := range regexp.MustCompile(`(?m)^\.PHONY: *(.*)$`).FindAllStringSubmatch(makefile(t), -1) {
		names = append(names, strings.Fields(line[1])...)
	}
	if len(names) == 0 {
		t.Fatal("no target is .PHONY")
	}
	return names
}

func makefile(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(projectDir(t), "Makefile"))
	must(t, err)
	return string(text)
}
