// Package checks holds what can be said of the repository by reading its files: what stands where, and that the modules
// agree with each other. It runs no test and needs no cluster.
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

// All runs every check on the repository at root and returns what is wrong, a sentence each.
func All(ctx context.Context, root string) ([]string, error) {
	var problems []string
	for _, check := range []func(context.Context, string) ([]string, error){topLevel, formatting, versions, skeleton, names, budgets, practice, agenda} {
		found, err := check(ctx, root)
		if err != nil {
			return nil, err
		}
		problems = append(problems, found...)
	}
	return problems, nil
}

var allowedAtTop = regexp.MustCompile(`^(\..*|LICENSE|README\.md|go\.work|go\.work\.sum|scripts|0[1-7]-[a-z-]+)$`)

// topLevel: nothing stands at the root but chapters, scripts, go.work, README, LICENSE and dotfiles.
func topLevel(_ context.Context, root string) ([]string, error) {
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, err
	}
	var problems []string
	for _, entry := range entries {
		if !allowedAtTop.MatchString(entry.Name()) {
			problems = append(problems, fmt.Sprintf("%s: doesn't belong at the top of the repository", entry.Name()))
		}
	}
	return problems, nil
}

// formatting: gofmt would change nothing. It is given our modules: in .workshop may be a whole Go, whose tests don't all parse.
func formatting(ctx context.Context, root string) ([]string, error) {
	modules, err := Modules(root)
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, "gofmt", append([]string{"-l"}, modules...)...)
	command.Dir = root
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("gofmt: %w", err)
	}
	var problems []string
	for file := range strings.Lines(string(output)) {
		if strings.Contains(file, "/exercises/") {
			continue // a learner's own work
		}
		problems = append(problems, fmt.Sprintf("%s: gofmt would change it", strings.TrimSpace(file)))
	}
	return problems, nil
}

// versions: every module that two of ours need, they need in the same version, in a go.mod or in a Makefile, and all ask for the same Go.
// Otherwise neighbouring chapters would differ in more than their lesson, and share no build cache.
func versions(_ context.Context, root string) ([]string, error) {
	modules, err := Modules(root)
	if err != nil {
		return nil, err
	}
	var problems []string
	first := map[string]string{} // what → "version in file"
	compare := func(file, what, version string) {
		before, seen := first[what]
		if !seen {
			first[what] = version + " in " + file
		} else if !strings.HasPrefix(before, version+" in ") {
			problems = append(problems, fmt.Sprintf("%s: %s %s, but %s", file, what, version, before))
		}
	}
	for _, module := range modules {
		path := filepath.Join(root, module, "go.mod")
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		file, err := modfile.Parse(path, content, nil)
		if err != nil {
			return nil, err
		}
		compare(module+"/go.mod", "go", file.Go.Version)
		for _, require := range file.Require {
			compare(module+"/go.mod", require.Mod.Path, require.Mod.Version)
		}
	}
	for _, module := range modules {
		content, err := os.ReadFile(filepath.Join(root, module, "Makefile"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for tool, version := range toolVersions(string(content)) {
			compare(module+"/Makefile", tool, version)
		}
	}
	return problems, nil
}

var (
	toolInMakefile    = regexp.MustCompile(`go run (\S+)@\$\((\w+)\)`)
	versionInMakefile = regexp.MustCompile(`(?m)^(\w+_VERSION) \?= (\S+)$`)
)

// toolVersions returns what a Makefile runs by `go run TOOL@$(NAME)`, in the version that it has in a line `NAME ?= VERSION`.
func toolVersions(makefile string) map[string]string {
	named := map[string]string{}
	for _, match := range versionInMakefile.FindAllStringSubmatch(makefile, -1) {
		named[match[1]] = match[2]
	}
	tools := map[string]string{}
	for _, match := range toolInMakefile.FindAllStringSubmatch(makefile, -1) {
		tools[match[1]] = named[match[2]]
	}
	return tools
}

// Modules lists the folders of the modules in go.work, relative to root: the chapters and scripts.
func Modules(root string) ([]string, error) {
	all, err := chapters.All(root)
	if err != nil {
		return nil, err
	}
	var modules []string
	for _, chapter := range all {
		modules = append(modules, chapter.Name)
	}
	return slices.Concat(modules, []string{"scripts"}), nil
}
