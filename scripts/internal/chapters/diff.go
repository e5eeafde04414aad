package chapters

// This file shows what changes from one chapter to another. Git makes the diff: of a repository with
// two commits, one for each chapter's files.

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// lessonFiles are the files with what a chapter teaches, in reading order. Files of the chapter before,
// which are gone, may be among them.
var lessonFiles = map[string][]string{
	"02": {"informers.go", "read.go", "index.go"},
	"03": {"queue.go", "informers.go"},
	"04": {
		// First pass: generated clients.
		"pkg/apis/samplecontroller/v1alpha1/types.go", "pkg/apis/samplecontroller/v1alpha1/doc.go",
		"pkg/apis/samplecontroller/v1alpha1/register.go", "pkg/client/foos.go", "informers.go", "main.go",
		// Second pass: server-side apply.
		"write.go", "desired.go", "merge.go", "read.go", "reconcile.go",
	},
	"05": {"foo_controller.go", "main.go", "deployment.go", "status.go"},
	"06": {
		"api/v1alpha1/foo_types.go", "internal/controller/foo_controller.go",
		"internal/webhook/v1alpha1/foo_webhook.go",
	},
	"07": {
		"internal/schedule/schedule.go", "internal/controller/tdset_controller.go",
		"internal/controller/drain.go", "internal/controller/conditions.go",
	},
}

// readingOrder is the order of the other files: patterns in which * also matches slashes.
var readingOrder = []string{
	"informers.go", "events.go", "queue.go", "read.go", "write.go", "reconcile.go", "desired.go", "main.go",
	"*.go", "*",
}

// solves names the file that does the same as the solution of a chapter's exercise TDSet in the
// chapter before or after, where it is given.
var solves = map[string]string{
	"01": "run.go", "02": "run.go", "03": "queue.go",
	"04": "clients.go", "05": "tdset_controller.go", "06": "pkg/apis/schedule/v1/types.go",
}

// Diff writes the changes from chapter a to b, the lesson first, or with onlyStat just how many lines
// change in each file. On a terminal, git starts its pager and uses colors.
func Diff(ctx context.Context, out io.Writer, a, b Chapter, onlyStat bool) error {
	before, after, err := pairFiles(a, b)
	if err != nil {
		return err
	}
	changes, err := countChanges(ctx, a, b)
	if err != nil {
		return err
	}
	keepShown(before, after)
	keepShown(after, before)
	lesson := lessonFiles[b.Number()]
	if b.Solved {
		lesson = []string{"solution.go"}
	}
	repository, err := commitBoth(ctx, before, after, summary(a, b, changes))
	if err != nil {
		return err
	}
	defer os.RemoveAll(repository)
	order := filepath.Join(repository, "order")
	patterns := strings.Join(slices.Concat(lesson, readingOrder), "\n")
	if err := os.WriteFile(order, []byte(patterns), 0o600); err != nil {
		return err
	}
	args := []string{"show", "--format=%B", "--patience", "-O" + order, "--stat=110,75", "b"}
	if !onlyStat {
		args = append(args, "--patch", "--irreversible-delete")
	}
	if os.Getenv("NO_COLOR") != "" {
		args = append([]string{"-c", "color.ui=never"}, args...)
	}
	// Ctrl-C is for git's pager, which would keep the terminal if it weren't waited for.
	return runGit(context.WithoutCancel(ctx), repository, nil, out, args...)
}

// pairFiles returns the files of both chapters, except generated ones. The files of a have the names
// that b uses, and its own name is b's, as in import paths: these aren't changes.
func pairFiles(a, b Chapter) (before, after map[string]file, err error) {
	filesA, errA := a.files()
	after, errB := b.files()
	if err := errors.Join(errA, errB); err != nil {
		return nil, nil, err
	}
	renamed := map[string]string{}
	switch {
	case b.Solved && solves[a.Number()] != solves[b.Number()]:
		renamed = map[string]string{"solution.go": solves[a.Number()], solves[b.Number()]: "solution.go"}
	case b.IsProject() && !a.IsProject():
		renamed = InProject
	}
	before = map[string]file{}
	for name, f := range filesA {
		f.text = strings.ReplaceAll(f.text, a.Name, b.Name)
		before[cmp.Or(renamed[name], name)] = f
	}
	isGenerated := func(_ string, f file) bool { return f.kind == generated }
	maps.DeleteFunc(before, isGenerated)
	maps.DeleteFunc(after, isGenerated)
	return before, after, nil
}

// keepShown leaves the files that a diff shows: the program's code, and the manifests that both
// chapters have.
func keepShown(files, others map[string]file) {
	maps.DeleteFunc(files, func(name string, f file) bool {
		_, inBoth := others[name]
		return f.kind == manifest && !inBoth
	})
}

func summary(a, b Chapter, changes Changes) string {
	return fmt.Sprintf("From %s (-) to %s (+): %d lines to read (%d removed, %d added, %d in new files).\n"+
		"%d lines are gone with their files. The lesson comes first.", a.Name, b.Name, changes.ToRead(),
		changes.Removed, changes.Added, changes.New, changes.Gone)
}

// countChanges counts the changes in the programs' code.
func countChanges(ctx context.Context, a, b Chapter) (changes Changes, err error) {
	before, after, err := pairFiles(a, b)
	if err != nil {
		return changes, err
	}
	for _, files := range []map[string]file{before, after} {
		maps.DeleteFunc(files, func(_ string, f file) bool { return f.kind != program })
		for name, f := range files {
			files[name] = file{f.kind, blankLine.ReplaceAllString(f.text, "")}
		}
	}
	repository, err := commitBoth(ctx, before, after, "")
	if err != nil {
		return changes, err
	}
	defer os.RemoveAll(repository)
	var out bytes.Buffer
	if err := runGit(ctx, repository, nil, &out, "diff-tree", "-r", "--numstat", "--patience", "a", "b"); err != nil {
		return changes, err
	}
	for line := range strings.Lines(out.String()) {
		var added, removed int
		var name string
		if _, err := fmt.Sscan(line, &added, &removed, &name); err != nil {
			return changes, fmt.Errorf("git printed %q: %w", line, err)
		}
		switch {
		case before[name].text == "":
			changes.New += added
		case after[name].text == "":
			changes.Gone += removed
		default:
			changes.Added += added
			changes.Removed += removed
		}
	}
	return changes, nil
}

var blankLine = regexp.MustCompile(`(?m)^\s*\n`)

// commitBoth creates a repository in a temporary folder, in which branch b has one commit more than
// branch a.
func commitBoth(ctx context.Context, a, b map[string]file, message string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "workshop-diff-"); err != nil {
		return "", err
	}
	var stream bytes.Buffer // in the format of git fast-import
	for _, commit := range []struct {
		branch, parent string
		files          map[string]file
	}{{"a", "", a}, {"b", "from refs/heads/a\ndeleteall\n", b}} {
		fmt.Fprintf(&stream, "commit refs/heads/%s\ncommitter workshop <> 0 +0000\ndata %d\n%s\n%s",
			commit.branch, len(message), message, commit.parent)
		for name, f := range commit.files {
			fmt.Fprintf(&stream, "M 644 inline %s\ndata %d\n%s\n", name, len(f.text), f.text)
		}
	}
	err = errors.Join(
		runGit(ctx, dir, nil, io.Discard, "init", "--quiet", "--bare", dir),
		os.MkdirAll(path.Join(dir, "info"), 0o700),
		// A hunk's header names the function that it is in.
		os.WriteFile(path.Join(dir, "info", "attributes"), []byte("*.go diff=golang\n"), 0o600),
		runGit(ctx, dir, &stream, io.Discard, "fast-import", "--quiet"),
	)
	if err != nil {
		return "", errors.Join(err, os.RemoveAll(dir))
	}
	return dir, nil
}

func runGit(ctx context.Context, dir string, in io.Reader, out io.Writer, args ...string) error {
	var stderr bytes.Buffer
	command := exec.CommandContext(ctx, "git", append([]string{"--git-dir=" + dir}, args...)...)
	command.Stdin, command.Stdout, command.Stderr = in, out, &stderr
	err := command.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signaled():
		return nil // the reader has left the pager, or closed the pipe
	case err != nil:
		return fmt.Errorf("git %s: %w: %s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return nil
}
