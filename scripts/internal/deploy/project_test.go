// The files of chapters 06 and 07 that aren't Go code: what make generates from the markers, and
// what kustomize makes of config. The tests need make and bash, and neither a cluster nor a
// network.

package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/testkit"
)

// projects are the chapters in kubebuilder's layout.
var projects = []string{"06-kubebuilder", "07-tdset-operator"}

// make build-installer also runs make manifests and make generate.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for _, chapter := range projects {
		t.Run(chapter, func(t *testing.T) {
			generated := copyProject(t, chapter)

			inProject(t, generated, "make", "build-installer")

			// Learners change the exercises, and the other two aren't committed.
			difference := exec.CommandContext(t.Context(), "diff", "-r", "-x", "exercises", "-x", "bin", "-x", "cover.out", projectDir(chapter), generated)
			if output, err := difference.CombinedOutput(); err != nil {
				t.Errorf("generated files are out of date: run make build-installer in %s (%v):\n%s", chapter, err, output)
			}
		})
	}
}

// Some manifests repeat what is elsewhere, and no cluster complains if they differ: services,
// policies and budgets have the labels of the manager's Pods, and after the grace period the
// kubelet kills the manager.
func TestManifestsAgree(t *testing.T) {
	for _, chapter := range projects {
		read := func(file string) string {
			text, err := os.ReadFile(filepath.Join(projectDir(chapter), file))
			must(t, err)
			return string(text)
		}
		selecting := map[string][]string{} // objects by selector
		for name, object := range parseObjects(t, read("dist/install.yaml")) {
			for _, path := range []string{"spec.selector", "spec.selector.matchLabels", "spec.podSelector.matchLabels", "spec.template.metadata.labels"} {
				if selector, found, err := unstructured.NestedStringMap(object, strings.Split(path, ".")...); found && err == nil {
					selecting[fmt.Sprint(selector)] = append(selecting[fmt.Sprint(selector)], name+" "+path)
				}
			}
		}
		if len(selecting) != 1 {
			t.Errorf("%s has different selectors: %q", chapter, selecting)
		}
		const shutdown = 5 + 30 // preStop, and controller-runtime's GracefulShutdownTimeout
		var grace int
		_, after, _ := strings.Cut(read("dist/install.yaml"), "terminationGracePeriodSeconds: ")
		if _, err := fmt.Sscan(after, &grace); err != nil || grace <= shutdown {
			t.Errorf("%s: the grace period is %d seconds, want more than a shutdown may take, %d", chapter, grace, shutdown)
		}
	}
}

// kustomize can build the part of config that is commented out. For chapter 07, see
// TestTheChartMatchesKustomize.
func TestMetricsForPrometheus(t *testing.T) {
	if built := withPrometheus(t, "06-kubebuilder"); !strings.Contains(built, "kind: ServiceMonitor\n") {
		t.Errorf("there is no ServiceMonitor:\n%s", built)
	}
}

// withPrometheus builds config/default with its optional part.
func withPrometheus(t *testing.T, chapter string) string {
	t.Helper()
	project := copyProject(t, chapter)
	file := filepath.Join(project, "config", "default", "kustomization.yaml")
	text, err := os.ReadFile(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "\n#- ../prometheus", "\n- ../prometheus", 1)), 0o600))
	return inProject(t, project, "go", "tool", "kustomize", "build", "config/default")
}

// Each stage of chapter 07's migration stores another version. VERSIONS.md applies the first and
// the last one.
func TestMigrationStages(t *testing.T) {
	for stage, want := range map[string]string{
		"1-v1-only": "v1 true", "2-both-served-v1-stored": "v1 true v2 false", "3-both-served-v2-stored": "v1 false v2 true", "4-v2-only": "v2 true",
	} {
		built := inProject(t, projectDir("07-tdset-operator"), "go", "tool", "kustomize", "build", "config/migration/"+stage)
		var got []string
		for _, version := range regexp.MustCompile(`(?m)^(?:    name: (v\d)|    storage: (\w+))$`).FindAllStringSubmatch(built, -1) {
			got = append(got, version[1]+version[2])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s stores versions: %q, want %s", stage, got, want)
		}
		if stage == "3-both-served-v2-stored" { // the CRD that config/default installs
			const crd = "CustomResourceDefinition tdsets.schedule.rs"
			installed, err := os.ReadFile(filepath.Join(projectDir("07-tdset-operator"), "dist", "install.yaml"))
			must(t, err)
			for _, change := range changes(parseObjects(t, string(installed)), parseObjects(t, built)) {
				if strings.HasPrefix(strings.TrimLeft(change, "+-"), crd) {
					t.Errorf("%s isn't config/default's CRD (-): %s", stage, change)
				}
			}
		}
	}
}

// copyProject returns a copy of a project, without what only learners change.
func copyProject(t *testing.T, chapter string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "my clones", chapter) // users' folders may have blanks in their names
	must(t, os.CopyFS(dir, os.DirFS(projectDir(chapter))))
	must(t, os.RemoveAll(filepath.Join(dir, "exercises")))
	return dir
}

func projectDir(chapter string) string { return filepath.Join(testkit.Repository(), chapter) }

// inProject runs a command in a project's folder, and returns its standard output. Its tools are in
// go.mod, so they have been downloaded already.
func inProject(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	// Ignore an image that is set in the terminal, or in the make that has started this test.
	environment := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "IMG=") })
	command.Env = append(environment, "CGO_ENABLED=0", "GOWORK=off", "GOPROXY=off", "MAKEFLAGS=", "MAKELEVEL=")
	var printed strings.Builder
	command.Stderr = &printed
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, output, &printed)
	}
	return string(output)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
