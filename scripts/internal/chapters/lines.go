package chapters

// This file reads a chapter's files, sorts them into kinds, and counts their lines.

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

type kind int

const (
	program   kind = iota // handwritten Go of the chapter's program
	manifest              // handwritten manifests and scripts
	generated             // the output of a generator
)

var (
	// leftOut matches hidden files, modules, tests, texts, exercises, and a solution's exercise.
	leftOut = regexp.MustCompile(`(^|/)(go\.(mod|sum)$|\.|(test|testdata)/)|_test\.go$|\.md$|` +
		`^exercises/|^exercise\.go$|^mistakes\.yaml$`)
	isGenerated   = regexp.MustCompile(`^pkg/generated/|^config/(rbac/role|webhook/manifests)\.yaml$`)
	saysGenerated = regexp.MustCompile(
		`(?m)^// Code generated .* DO NOT EDIT\.$|^\s+controller-gen\.kubebuilder\.io/version:`)
	packageMain = regexp.MustCompile(`(?m)^package main\b`)
)

type file struct {
	kind kind
	text string
}

// files returns the chapter's text files, by their paths relative to the chapter. Other programs than
// the chapter's own are left out, with what lies beside them.
func (c Chapter) files() (map[string]file, error) {
	names, err := Files(c.Dir, func(name string) bool { return !leftOut.MatchString(name) })
	if err != nil {
		return nil, fmt.Errorf("list the files of %s: %w", c.Name, err)
	}
	found := map[string]file{}
	otherPrograms := map[string]bool{} // by folder
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(c.Dir, name))
		if err != nil {
			return nil, err
		}
		kind, folder := kindOf(name, content), path.Dir(name)
		switch {
		case bytes.IndexByte(content, 0) >= 0: // a picture or a program
		case kind == program && packageMain.Match(content) && folder != "." && folder != "cmd":
			otherPrograms[topFolder(name)] = true
		default:
			found[name] = file{kind, string(content)}
		}
	}
	delete(otherPrograms, "hack") // its scripts generate code for the chapter's own program
	maps.DeleteFunc(found, func(name string, f file) bool { return f.kind == manifest && otherPrograms[topFolder(name)] })
	return found, nil
}

func topFolder(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

func kindOf(name string, content []byte) kind {
	switch {
	case isGenerated.MatchString(name), saysGenerated.Match(content):
		return generated
	case path.Ext(name) == ".go":
		return program
	}
	return manifest
}

// Lines counts the lines of a chapter's program and of its diff from the chapter before. Blank lines
// count nowhere, and comments only in the diff.
type Lines struct {
	Chapter
	Code                 int // handwritten Go
	Generated, Manifests int // generated Go, handwritten manifests and scripts
	Changes
}

// Changes counts lines of handwritten Go that are removed from and added to the files that both
// chapters have, and the lines of new and of deleted files.
type Changes struct{ Removed, Added, New, Gone int }

// ToRead is the number of lines that a reader of the diff reads.
func (c Changes) ToRead() int { return c.Removed + c.Added + c.New }

// Count counts the lines of these chapters, each compared with the one before it.
func Count(ctx context.Context, all []Chapter) (counts []Lines, err error) {
	for i, chapter := range all {
		files, err := chapter.files()
		if err != nil {
			return nil, err
		}
		lines := Lines{Chapter: chapter}
		for name, f := range files {
			code := countCode(name, f.text)
			switch {
			case f.kind == program:
				lines.Code += code
			case f.kind == generated && path.Ext(name) == ".go":
				lines.Generated += code
			case f.kind == manifest:
				lines.Manifests += code
			}
		}
		if i > 0 {
			if lines.Changes, err = countChanges(ctx, all[i-1], chapter); err != nil {
				return nil, err
			}
		}
		counts = append(counts, lines)
	}
	return counts, nil
}

// countCode counts a file's lines without blank lines and comments.
func countCode(name, text string) (count int) {
	comment := "#"
	if path.Ext(name) == ".go" {
		comment = "//"
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, comment) {
			count++
		}
	}
	return count
}
