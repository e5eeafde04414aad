package checks

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

const internal = "scripts/internal/"

var (
	layerRow    = regexp.MustCompile(`^\| \*\*.+\*\* \| \|$`)
	firstCell   = regexp.MustCompile("^\\| (`[^|]+`) \\|")
	inBackticks = regexp.MustCompile("`([^`]+)`")
	testSetting = regexp.MustCompile(`\bTEST_[A-Z_]+\b`)
)

// The map in CONTRIBUTING.md names each package, and each variable that tests read. A package
// imports only from its own layer and those below.
func TestTheMap(t *testing.T) {
	root := os.DirFS(testkit.Repository())
	page, err := fs.ReadFile(root, ".github/CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "\n## A map of `scripts/`\n")
	text, _, _ = strings.Cut(text, "\n## ")
	table, _, _ := strings.Cut(text, "\n### From")
	layer, layers := map[string]int{}, 0
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if layerRow.MatchString(line) {
			layers++
		}
		if cell := firstCell.FindStringSubmatch(line); cell != nil {
			for _, name := range inBackticks.FindAllStringSubmatch(cell[1], -1) {
				layer[name[1]] = layers
			}
		}
	}
	if layers < 2 {
		t.Fatal("the map has no layers: rows such as | **Clusters** | |")
	}
	settings := inBackticks.FindAllString(text, -1)
	found := map[string]bool{}
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, setting := range testSetting.FindAllString(string(source), -1) {
			if !slices.Contains(settings, "`"+setting+"`") && !found[setting] {
				found[setting] = true
				t.Errorf("the map doesn't name the variable %s, which is in %s", setting, name)
			}
		}
		of, inside := strings.CutPrefix(path.Dir(name), internal)
		if !inside {
			return nil
		}
		if layer[of] == 0 && !found[of] {
			t.Errorf("the map doesn't name the package %s", of)
		}
		found[of] = true
		if strings.HasSuffix(name, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			_, used, ours := strings.Cut(strings.Trim(imported.Path.Value, `"`), internal)
			if ours && layer[used] < layer[of] {
				t.Errorf("%s imports %s, which is in a layer above its own", name, used)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range layer {
		if !found[name] && name != "cmd/workshop" {
			t.Errorf("the map names %s, which isn't a package", name)
		}
	}
}
