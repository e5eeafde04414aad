// Package checks has the rules that can be checked by reading the repository's files. It runs no
// test and needs no cluster.
package checks

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"example.com/operators/scripts/internal/chapters"
)

// All runs every check on the repository at root and returns the problems, a sentence each.
func All(ctx context.Context, root string) ([]string, error) {
	return run(ctx, root, topLevel, sizes, formatting, versions, skeleton, budgets, practice, capstones, words)
}

type repository struct {
	root     string
	chapters []chapters.Chapter
	modules  []string
	problems []string
}

func (r *repository) report(format string, args ...any) {
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

// read returns the content of a file in the repository, or "" if the file doesn't exist.
func (r *repository) read(path ...string) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.root, filepath.Join(path...)))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(content), err
}

func run(ctx context.Context, root string, checks ...func(context.Context, *repository) error) ([]string, error) {
	all, err := chapters.All(root)
	r := &repository{root: root, chapters: all, modules: chapters.Modules(all)}
	for _, check := range checks {
		if err == nil {
			err = check(ctx, r)
		}
	}
	return r.problems, err
}

var allowedAtTop = regexp.MustCompile(`^(\..*|LICENSE|README\.md|go\.work|go\.work\.sum|scripts|0[1-7]-[a-z-]+)$`)

// topLevel: the root has only chapters, scripts, go.work, README, LICENSE and dotfiles.
func topLevel(_ context.Context, r *repository) error {
	entries, err := os.ReadDir(r.root)
	for _, entry := range entries {
		if !allowedAtTop.MatchString(entry.Name()) {
			r.report("%s: doesn't belong at the top of the repository", entry.Name())
		}
	}
	return err
}

// sizes: nobody writes or reads a file of 100 KiB, so one that big was written by a program, for
// example a cache, and was committed by accident.
func sizes(_ context.Context, r *repository) error {
	const limit = 100 << 10 // bytes
	return filepath.WalkDir(r.root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && slices.Contains([]string{".git", ".workshop"}, entry.Name()) {
			return filepath.SkipDir
		}
		info, err := entry.Info()
		if err == nil && info.Mode().IsRegular() && info.Size() > limit {
			name, _ := filepath.Rel(r.root, path)
			r.report("%s: %d KiB, but files have at most %d: delete it if a program wrote it", name, info.Size()>>10, limit>>10)
		}
		return err
	})
}

// formatting: gofmt would change nothing. It reads only our modules, because .workshop may contain
// Go, whose tests don't all parse.
func formatting(ctx context.Context, r *repository) error {
	command := exec.CommandContext(ctx, "gofmt", append([]string{"-l"}, r.modules...)...)
	command.Dir = r.root
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("gofmt: %w", err)
	}
	for file := range strings.Lines(string(output)) {
		if !strings.Contains(file, "/exercises/") { // a learner's own work
			r.report("%s: gofmt would change it", strings.TrimSpace(file))
		}
	}
	return nil
}

// versions: our modules and Makefiles require the same version of each module and of Go. Otherwise
// neighbouring chapters would differ in more than their lesson, and what they share with the tool
// and the control plane would be compiled more than once.
func versions(_ context.Context, r *repository) error {
	first := map[string]string{} // by module: "version in file"
	compare := func(file, what, version string) {
		before, seen := first[what]
		if !seen {
			first[what] = version + " in " + file
		} else if !strings.HasPrefix(before, version+" in ") {
			r.report("%s: %s %s, but %s", file, what, version, before)
		}
	}
	for _, module := range append(slices.Clone(r.modules), "scripts/controlplane") {
		path := filepath.Join(r.root, module, "go.mod")
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := modfile.Parse(path, content, nil)
		if err != nil {
			return err
		}
		compare(module+"/go.mod", "go", file.Go.Version)
		for _, require := range file.Require {
			compare(module+"/go.mod", require.Mod.Path, require.Mod.Version)
		}
	}
	for _, module := range r.modules {
		makefile, err := r.read(module, "Makefile")
		if err != nil {
			return err
		}
		named := map[string]string{}
		for _, match := range versionInMakefile.FindAllStringSubmatch(makefile, -1) {
			named[match[1]] = match[2]
		}
		for _, match := range toolInMakefile.FindAllStringSubmatch(makefile, -1) {
			compare(module+"/Makefile", match[1], named[match[2]])
		}
	}
	return nil
}

// A Makefile runs `go run TOOL@$(NAME)`, and sets the version in a line `NAME ?= VERSION`.
var (
	toolInMakefile    = regexp.MustCompile(`go run (\S+)@\$\((\w+)\)`)
	versionInMakefile = regexp.MustCompile(`(?m)^(\w+_VERSION) \?= (\S+)$`)
)
