// Package chapters knows which chapters there are and where their parts lie.
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

// Chapter is one numbered folder at the repository's root.
type Chapter struct {
	// Name is the folder's name, such as 01-raw-watch.
	Name string
	// Dir is the folder's absolute path.
	Dir string
}

// Number is what stands before the first hyphen, such as 01.
func (c Chapter) Number() string { return strings.SplitN(c.Name, "-", 2)[0] }

var boldSentence = regexp.MustCompile(`(?m)^\*\*(.+)\.\*\*`)

// Idea is the chapter's one idea: the sentence in bold with which its README begins, without the full stop.
func (c Chapter) Idea() (string, error) {
	text, err := os.ReadFile(filepath.Join(c.Dir, "README.md"))
	if err != nil {
		return "", err
	}
	found := boldSentence.FindSubmatch(text)
	if found == nil {
		return "", fmt.Errorf("%s/README.md has no idea: a sentence in bold, at the beginning of a line", c.Name)
	}
	return string(found[1]), nil
}

// Summary is the row of the table below the idea, which the front page repeats.
type Summary struct {
	Problem string // that the reader has seen
	Add     string // what this chapter adds to solve it
	Minutes string // for reading the chapter
}

var summaryTable = regexp.MustCompile(`(?m)^\| the problem \| you add \| minutes \|\n\|[-| ]+\n\| (.+) \| (.+) \| (\d+) \|$`)

// Summary returns an error if the chapter's README has no such table.
func (c Chapter) Summary() (Summary, error) {
	text, err := os.ReadFile(filepath.Join(c.Dir, "README.md"))
	if err != nil {
		return Summary{}, err
	}
	found := summaryTable.FindStringSubmatch(string(text))
	if found == nil {
		return Summary{}, fmt.Errorf("%s/README.md has no table with the columns the problem, you add, minutes", c.Name)
	}
	return Summary{Problem: found[1], Add: found[2], Minutes: found[3]}, nil
}

const (
	Foo   = "Foo"
	TDSet = "TDSet"
)

// Kind is the kind that the chapter's own program is about.
func (c Chapter) Kind() string {
	if c.Number() < "07" {
		return Foo
	}
	return TDSet
}

// Parts are what a chapter brings besides its program: absolute paths.
type Parts struct {
	// Main is the package of the program, as go build takes it in the chapter's folder.
	Main string
	// CRD defines its resource; Permissions has the program's namespace, account and roles, among other things; Sample is an object to try.
	CRD, Permissions, Sample string
	// Webhooks has webhook configurations, among other things; "" where there are none.
	Webhooks string
	// Deployment runs the program in a cluster, as foo-controller:NN; "" where there is none, or a Makefile knows how ("make deploy").
	Deployment string
}

// InProject is where kubebuilder's layout, in 06 and 07, keeps files of the earlier chapters.
var InProject = map[string]string{
	"pkg/apis/samplecontroller/v1alpha1/types.go": "api/v1alpha1/foo_types.go",
	"pkg/apis/samplecontroller/v1alpha1/doc.go":   "api/v1alpha1/groupversion_info.go",

	"main.go":           "cmd/main.go",
	"manager.go":        "cmd/manager.go",
	"waitforcrd.go":     "cmd/waitforcrd.go",
	"idletimeout.go":    "cmd/idletimeout.go",
	"watcherrors.go":    "cmd/watcherrors.go",
	"desired.go":        "internal/controller/desired.go",
	"foo_controller.go": "internal/controller/foo_controller.go",
	"index.go":          "internal/controller/index.go",
	"reconcile.go":      "internal/controller/reconcile.go",
	"recorder.go":       "internal/controller/recorder.go",
	"read.go":           "internal/controller/read.go",
	"terminating.go":    "internal/controller/terminating.go",
	"write.go":          "internal/controller/write.go",
}

// IsProject reports whether the chapter is a kubebuilder project, with its own Makefile.
func (c Chapter) IsProject() bool {
	return exists(filepath.Join(c.Dir, "PROJECT"))
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Parts says where they are. A chapter that is a kubebuilder project has them where kubebuilder puts them.
func (c Chapter) Parts() Parts {
	at := func(path ...string) string { return filepath.Join(append([]string{c.Dir}, path...)...) }
	if c.IsProject() {
		install := at("dist", "install.yaml")
		return Parts{
			Main: "./cmd", CRD: onlyFile(at("config", "crd", "bases", "*.yaml")), Permissions: install,
			Sample: onlyFile(at("config", "samples", "*_v*.yaml")), Webhooks: install,
		}
	}
	parts := Parts{Main: ".", CRD: at("manifests", "crd.yaml"), Permissions: at("manifests", "rbac.yaml"), Sample: at("manifests", "foo.yaml")}
	if deployment := at("manifests", "deployment.yaml"); exists(deployment) {
		parts.Deployment = deployment
	}
	return parts
}

// onlyFile is the one file that matches, or the pattern, for an error to name.
func onlyFile(pattern string) string {
	if found, err := filepath.Glob(pattern); err == nil && len(found) == 1 {
		return found[0]
	}
	return pattern
}

// Files returns the sorted paths of the files below dir that wanted accepts, relative to dir and
// with slashes. It skips .git and .workshop.
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

// All returns the chapters below root, in order.
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

// Find returns the chapters called so: 1, 01, 01-raw-watch or 01-raw-watch/. No names mean all.
func Find(root string, names ...string) ([]Chapter, error) {
	all, err := All(root)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var found []Chapter
	for _, name := range names {
		trimmed := strings.TrimSuffix(name, "/")
		i := slices.IndexFunc(all, func(c Chapter) bool { return trimmed == c.Name || trimmed == c.Number() || "0"+trimmed == c.Number() })
		if i < 0 {
			return nil, fmt.Errorf("there is no chapter %q; there are %s", name, strings.Join(Names(all), ", "))
		}
		found = append(found, all[i])
	}
	return found, nil
}

// Modules returns the folders of the modules in go.work, if all holds every chapter.
func Modules(all []Chapter) []string { return append(Names(all), "scripts") }

// Schedule is the folder of a module of its own: it imports chapter 07, which a learner may break, and
// the workshop's other commands must still build then.
const Schedule = "scripts/schedule"

func Names(all []Chapter) (names []string) {
	for _, chapter := range all {
		names = append(names, chapter.Name)
	}
	return names
}
