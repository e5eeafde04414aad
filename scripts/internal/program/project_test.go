package program

// The files of chapters 06 and 07 that aren't Go code: what make generates from the markers, and
// what kustomize makes of config. The tests need make and bash, and neither a cluster nor a network.

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/operator"
	"example.com/operators/scripts/internal/testkit"
)

// projects are the chapters in kubebuilder's layout.
var projects = []string{"06-kubebuilder", "07-tdset-operator"}

func projectDir(chapter string) string { return filepath.Join(testkit.Repository(), chapter) }

// make build-installer also runs make manifests and make generate.
func TestGeneratedFilesAreUpToDate(t *testing.T) {
	for _, chapter := range projects {
		t.Run(chapter, func(t *testing.T) {
			generated := filepath.Join(t.TempDir(), "my clones", chapter) // users' folders may have blanks in their names
			must(t, os.CopyFS(generated, os.DirFS(projectDir(chapter))))
			must(t, os.RemoveAll(filepath.Join(generated, "exercises"))) // learners change them

			inProject(t, generated, "make", "build-installer")

			difference := exec.CommandContext(t.Context(), "diff", "-r", "-x", "exercises", "-x", "bin", "-x", "cover.out",
				projectDir(chapter), generated)
			if output, err := difference.CombinedOutput(); err != nil {
				t.Errorf("generated files are out of date: run make build-installer in %s (%v):\n%s", chapter, err, output)
			}
		})
	}
}

// Services, policies and budgets select the manager's Pods. No cluster complains if they don't.
func TestSelectorsAgree(t *testing.T) {
	for _, chapter := range projects {
		objects, err := operator.ReadObjects(filepath.Join(projectDir(chapter), "dist", "install.yaml"))
		must(t, err)
		selecting := map[string][]string{} // objects by selector
		for _, object := range objects {
			for _, path := range []string{
				"spec.selector", "spec.selector.matchLabels", "spec.podSelector.matchLabels", "spec.template.metadata.labels",
			} {
				selector, found, err := unstructured.NestedStringMap(object.Object, strings.Split(path, ".")...)
				if found && err == nil {
					labels := fmt.Sprint(selector)
					selecting[labels] = append(selecting[labels], object.GetKind()+" "+object.GetName())
				}
			}
		}
		if len(selecting) != 1 {
			t.Errorf("%s has different selectors: %q", chapter, selecting)
		}
	}
}

// Each stage of chapter 07's migration stores another version. VERSIONS.md applies the first and
// the last one.
func TestMigrationStages(t *testing.T) {
	const crd = "CustomResourceDefinition tdsets.schedule.rs"
	versions := regexp.MustCompile(`(?m)^(?:    name: (v\d)|    storage: (\w+))$`)
	for stage, want := range map[string]string{
		"1-v1-only": "v1 true", "2-both-served-v1-stored": "v1 true v2 false",
		"3-both-served-v2-stored": "v1 false v2 true", "4-v2-only": "v2 true",
	} {
		project := projectDir("07-tdset-operator")
		built := inProject(t, project, "go", "tool", "kustomize", "build", "config/migration/"+stage)
		var got []string
		for _, version := range versions.FindAllStringSubmatch(built, -1) {
			got = append(got, version[1]+version[2])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s stores versions: %q, want %s", stage, got, want)
		}
		if stage == "3-both-served-v2-stored" { // the CRD that config/default installs
			installed, err := os.ReadFile(filepath.Join(project, "dist", "install.yaml"))
			must(t, err)
			if diff := cmp.Diff(parseObjects(t, string(installed))[crd], parseObjects(t, built)[crd]); diff != "" {
				t.Errorf("%s (+) isn't config/default's CRD (-):\n%s", stage, diff)
			}
		}
	}
}

// Alerts fire when they should. Without $PROMTOOL, this would compile promtool, which takes longer than
// the whole default suite.
func TestAlerts(t *testing.T) {
	command := exec.CommandContext(t.Context(), "make", "-C", projectDir("07-tdset-operator"), "test-alerts")
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

// inProject runs a command in a project's folder, and returns its standard output. Its tools are in
// go.mod, so they have been downloaded already.
func inProject(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	// Ignore an image that is set in the terminal, or in the make that has started this test.
	isImage := func(variable string) bool { return strings.HasPrefix(variable, "IMG=") }
	environment := slices.DeleteFunc(os.Environ(), isImage)
	command.Env = append(environment, "CGO_ENABLED=0", "GOWORK=off", "GOPROXY=off", "MAKEFLAGS=", "MAKELEVEL=")
	var printed strings.Builder
	command.Stderr = &printed
	output, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", command, err, output, &printed)
	}
	return string(output)
}
