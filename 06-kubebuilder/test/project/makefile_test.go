// The Makefile: what it says that it can do, it can. No target is run here that needs a cluster or docker.

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

// A target that isn't .PHONY isn't run if there is a file of its name.
func TestEveryTargetIsPhony(t *testing.T) {
	var rules []string
	for _, line := range regexp.MustCompile(`(?m)^([a-z0-9-]+):($|[^=])`).FindAllStringSubmatch(makefile(t), -1) {
		rules = append(rules, line[1])
	}
	if diff := cmp.Diff(rules, targets(t)); diff != "" {
		t.Errorf("targets (-rules +.PHONY):\n%s", diff)
	}
}

// make reads each target, and bash reads the commands that make would give it. Nothing is run.
func TestEveryTargetParses(t *testing.T) {
	for _, target := range targets(t) {
		t.Run(target, func(t *testing.T) {
			commands := run(t, projectDir(t), "make", "--dry-run", target)

			if strings.TrimSpace(commands) == "" {
				t.Error("it does nothing")
			}
			runWith(t, projectDir(t), commands, "bash", "-n")
		})
	}
}

// The image is replaced in what kustomize writes, and no file but that is changed.
func TestTheImageCanBeChosen(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	const image = "registry.example.com:5000/a/foo@sha256:0123456789abcdef"
	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate")
	want := filesIn(t, clone)
	if strings.Count(want["dist/install.yaml"], "foo-operator:dev") != 1 {
		t.Error("the image isn't in dist/install.yaml, or is there twice")
	}
	want["dist/install.yaml"] = strings.Replace(want["dist/install.yaml"], "foo-operator:dev", image, 1)

	run(t, clone, "make", "build-installer", "--old-file=manifests", "--old-file=generate", "IMG="+image)

	if diff := cmp.Diff(want, filesIn(t, clone)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// Where the left of a pipe fails and all else goes well, the target fails too, and leaves every file as it was.
func TestAFailureBeforeAPipeIsAFailure(t *testing.T) {
	t.Parallel()
	clone := cloneProject(t)
	before := filesIn(t, clone)
	for _, target := range []string{"build-installer", "install", "uninstall", "deploy", "undeploy"} {
		t.Run(target, func(t *testing.T) {
			args := []string{target, "KUSTOMIZE=false", "KUBECTL=bash -c 'test $$0 != create'", "HELM=true"}
			for _, other := range targets(t) {
				if other != target { // none but this one
					args = append(args, "--old-file="+other)
				}
			}

			if _, err := tryRun(t, clone, "", "make", args...); err == nil {
				t.Error("it says that all went well")
			}
		})
	}
	if diff := cmp.Diff(before, filesIn(t, clone)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
}

// targets are those that .PHONY names, in their order.
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
