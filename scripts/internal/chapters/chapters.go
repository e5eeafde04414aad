// Package chapters finds the chapters and their files, counts their lines, and shows what changes
// from one chapter to another.
package chapters

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Chapter is one numbered folder at the repository's root, or the solution of its exercise TDSet.
type Chapter struct {
	Name   string // of the folder, such as 01-raw-watch
	Dir    string // the absolute path of the folder, or of the exercise
	Solved bool   // it is the solution
}

// TDSet returns the solution of the chapter's exercise TDSet. Not every chapter has one.
func (c Chapter) TDSet() (solved Chapter, found bool) {
	matches, _ := filepath.Glob(filepath.Join(c.Dir, "exercises", "*-tdset")) // the pattern is valid
	if len(matches) == 0 {
		return Chapter{}, false
	}
	return Chapter{Name: c.Name, Dir: matches[0], Solved: true}, true
}

// TDSets returns the solutions of these chapters' exercises TDSet.
func TDSets(all []Chapter) (solved []Chapter) {
	for _, chapter := range all {
		if one, found := chapter.TDSet(); found {
			solved = append(solved, one)
		}
	}
	return solved
}

// Number is the part of the name before the first hyphen, such as 01.
func (c Chapter) Number() string { return strings.SplitN(c.Name, "-", 2)[0] }

const (
	Foo   = "Foo"
	TDSet = "TDSet"
)

// Kind is the kind of the objects that the chapter's program reconciles.
func (c Chapter) Kind() string {
	if c.Number() < "07" && !c.Solved {
		return Foo
	}
	return TDSet
}

// Parts are the chapter's main package, and the absolute paths of its manifests.
type Parts struct {
	Main        string // as go build takes it in the chapter's folder
	CRD         string
	Permissions string // the program's namespace, account and roles, among other things
	Sample      string // an object to try
	Webhooks    string // webhook configurations, among other things; "": there are none
	Deployment  string // of the program; "": there is none, or the Makefile deploys
}

// InProject maps the earlier chapters' files to kubebuilder's layout in 06 and 07.
var InProject = map[string]string{
	"pkg/apis/samplecontroller/v1alpha1/types.go": "api/v1alpha1/foo_types.go",
	"pkg/apis/samplecontroller/v1alpha1/doc.go":   "api/v1alpha1/groupversion_info.go",

	"main.go":           "cmd/main.go",
	"manager.go":        "cmd/manager.go",
	"desired.go":        "internal/controller/desired.go",
	"foo_controller.go": "internal/controller/foo_controller.go",
	"deployment.go":     "internal/controller/deployment.go",
	"status.go":         "internal/controller/status.go",
	"index.go":          "internal/controller/index.go",
}

// IsProject reports whether the chapter is a kubebuilder project, with its own Makefile.
func (c Chapter) IsProject() bool { return Exists(filepath.Join(c.Dir, "PROJECT")) }

// Exists reports whether there is a file or a folder.
func Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (c Chapter) Parts() Parts {
	at := func(path ...string) string { return filepath.Join(append([]string{c.Dir}, path...)...) }
	if c.IsProject() {
		install := at("dist", "install.yaml")
		return Parts{
			Main: "./cmd", CRD: newest(at("config", "crd", "bases", "*.yaml")), Permissions: install,
			Sample: newest(at("config", "samples", "*_v*.yaml")), Webhooks: install,
		}
	}
	parts := Parts{
		Main: ".", CRD: at("manifests", "crd.yaml"), Permissions: at("manifests", "rbac.yaml"),
		Sample: at("manifests", strings.ToLower(c.Kind())+".yaml"),
	}
	if deployment := at("manifests", "deployment.yaml"); Exists(deployment) {
		parts.Deployment = deployment
	}
	return parts
}

// newest returns the last file that matches the pattern, which is that of the newest version. If there
// is none, it returns the pattern, for errors to name.
func newest(pattern string) string {
	found, err := filepath.Glob(pattern)
	if err != nil || len(found) == 0 {
		return pattern
	}
	return found[len(found)-1]
}

// Files returns the sorted paths of the accepted files below dir, relative to dir and with slashes.
// It skips .git and .workshop.
func Files(dir string, accept func(name string) bool) (names []string, err error) {
	err = fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == ".git" || entry.Name() == ".workshop"):
			return fs.SkipDir
		case entry.Type().IsRegular() && accept(name):
			names = append(names, name)
		}
		return nil
	})
	return names, err
}

var folder = regexp.MustCompile(`^[0-9]{2}-[a-z-]+$`)

func All(root string) ([]Chapter, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, fmt.Errorf("list the chapters: %w", err)
	}
	var all []Chapter
	for _, entry := range entries {
		if entry.IsDir() && folder.MatchString(entry.Name()) {
			all = append(all, Chapter{Name: entry.Name(), Dir: filepath.Join(root, entry.Name())})
		}
	}
	return all, nil
}

// Find returns the chapters of these names (1, 01, 01-raw-watch or 01-raw-watch/), or all.
func Find(root string, names ...string) ([]Chapter, error) {
	all, err := All(root)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var found []Chapter
	for _, name := range names {
		trimmed := strings.TrimSuffix(name, "/")
		i := slices.IndexFunc(all, func(c Chapter) bool {
			return trimmed == c.Name || trimmed == c.Number() || "0"+trimmed == c.Number()
		})
		if i < 0 {
			return nil, fmt.Errorf("there is no chapter %q; there are %s", name, strings.Join(Names(all), ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

func Names(all []Chapter) (names []string) {
	for _, chapter := range all {
		names = append(names, chapter.Name)
	}
	return names
}
