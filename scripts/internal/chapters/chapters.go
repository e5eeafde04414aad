// Package chapters knows which chapters there are and where their parts lie.
package chapters

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// Manifest is the absolute path of a file in the chapter's manifests folder.
func (c Chapter) Manifest(file string) string { return filepath.Join(c.Dir, "manifests", file) }

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

// Find returns the chapters that names mean: a name is a number (1, 01) or a folder (01-raw-watch, 01-raw-watch/). No names
// mean all chapters.
func Find(root string, names ...string) ([]Chapter, error) {
	all, err := All(root)
	if err != nil || len(names) == 0 {
		return all, err
	}
	var found []Chapter
	for _, name := range names {
		chapter, err := find(all, name)
		if err != nil {
			return nil, err
		}
		found = append(found, chapter)
	}
	return found, nil
}

func find(all []Chapter, name string) (Chapter, error) {
	wanted := strings.TrimSuffix(name, "/")
	var names []string
	for _, chapter := range all {
		if wanted == chapter.Name || wanted == chapter.Number() || "0"+wanted == chapter.Number() {
			return chapter, nil
		}
		names = append(names, chapter.Name)
	}
	return Chapter{}, fmt.Errorf("there is no chapter %q; there are %s", name, strings.Join(names, ", "))
}
