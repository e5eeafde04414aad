package checks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/testkit"
)

var root = testkit.Repository()

func allChapters(t *testing.T) []chapters.Chapter {
	t.Helper()
	all, err := chapters.All(root)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Error(err)
	}
	return string(content)
}

func TestTheRootHasOnlyChaptersAndScripts(t *testing.T) {
	allowed := regexp.MustCompile(`^(\..*|LICENSE|README\.md|go\.work|go\.work\.sum|scripts|0[1-7]-[a-z-]+)$`)
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if !allowed.MatchString(entry.Name()) {
			t.Errorf("%s doesn't belong at the top of the repository", entry.Name())
		}
	}
}

// The exercises are a learner's own work.
func TestGofmtWouldChangeNothing(t *testing.T) {
	command := exec.CommandContext(t.Context(), "gofmt", append([]string{"-l", "scripts"}, chapters.Names(allChapters(t))...)...)
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	for file := range strings.Lines(string(output)) {
		if !strings.Contains(file, "/exercises/") {
			t.Errorf("gofmt would change %s", file)
		}
	}
}

// Our modules and Makefiles require the same version of each module and of Go. Otherwise neighboring
// chapters would differ in more than their lesson, and what they share with the tool and the control
// plane would be compiled more than once.
func TestEachModuleHasOneVersion(t *testing.T) {
	first := map[string]string{} // by module: "version in file"
	compare := func(file, what, version string) {
		before, seen := first[what]
		if !seen {
			first[what] = version + " in " + file
		} else if !strings.HasPrefix(before, version+" in ") {
			t.Errorf("%s: %s %s, but %s", file, what, version, before)
		}
	}
	modules := append(chapters.Names(allChapters(t)), "scripts")
	for _, module := range append(slices.Clone(modules), "scripts/controlplane") {
		file, err := modfile.Parse(module, []byte(read(t, module+"/go.mod")), nil)
		if err != nil {
			t.Fatal(err)
		}
		compare(module+"/go.mod", "go", file.Go.Version)
		for _, require := range file.Require {
			compare(module+"/go.mod", require.Mod.Path, require.Mod.Version)
		}
	}
	// A Makefile runs `go run TOOL@$(NAME)`, and sets the version in a line `NAME ?= VERSION`.
	tool := regexp.MustCompile(`go run (\S+)@\$\((\w+)\)`)
	for _, makefile := range []string{"06-kubebuilder/Makefile", "07-tdset-operator/Makefile"} {
		text := read(t, makefile)
		for _, match := range tool.FindAllStringSubmatch(text, -1) {
			_, version, _ := strings.Cut(text, "\n"+match[2]+" ?= ")
			version, _, _ = strings.Cut(version, "\n")
			compare(makefile, match[1], version)
		}
	}
}

// VS Code's launch configurations debug every chapter's program, and a test that exists.
func TestLaunchConfigurations(t *testing.T) {
	var launch struct {
		Configurations []struct {
			Program string
			Args    []string
		}
		Inputs []struct{ Options []string }
	}
	if err := json.Unmarshal([]byte(read(t, ".vscode/launch.json")), &launch); err != nil {
		t.Fatal(err)
	}
	programs := launch.Inputs[0].Options
	for i, chapter := range allChapters(t) {
		if i >= len(programs) || !strings.HasPrefix(programs[i]+"/", chapter.Name+"/") {
			t.Fatalf("launch.json offers %q, but the next chapter is %s", programs, chapter.Name)
		}
		if !strings.Contains(read(t, programs[i]+"/main.go"), "\nfunc main() {") {
			t.Errorf("launch.json offers %s, which is no program", programs[i])
		}
	}
	one := launch.Configurations[2]
	test, sentence, _ := strings.Cut(one.Args[1], "/")
	tests := read(t, strings.TrimPrefix(one.Program, "${workspaceFolder}/")+"/foo_controller_test.go")
	for _, part := range []string{"func " + strings.Trim(test, "^$") + "(", strings.ReplaceAll(strings.Trim(sentence, "^$"), "_", " ")} {
		if !strings.Contains(tests, part) {
			t.Errorf("launch.json debugs a test that doesn't exist: no %q", part)
		}
	}
}
