package chapterdiff

// This file reads a chapter's files and says of what kind each is.

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/operators/scripts/internal/chapters"
)

// kind is what a file is to the reader, in the order in which kinds are shown.
type kind int

const (
	kindCode      kind = iota // handwritten Go of the chapter's program
	kindProgram               // handwritten Go of another program in the chapter: a warm-up
	kindTest                  // tests and their data
	kindManifest              // manifests, and whatever else is no Go and no text
	kindExercise              // all of an exercise, its text and tests too
	kindText                  // READMEs: counted, not shown
	kindGenerated             // what a generator wrote: counted, neither shown nor compared
)

type file struct {
	path  string // relative to the chapter, with slashes
	kind  kind
	text  string // ends with a newline, unless it is empty
	lines []string
	sorts []lineSort // of each line
}

var (
	// leftOut matches files that don't matter to the lesson: go.mod, go.sum and hidden files.
	leftOut     = regexp.MustCompile(`(^|/)(go\.(mod|sum)$|\.)`)
	testFile    = regexp.MustCompile(`_test\.go$|(^|/)(test|testdata)/`)
	packageMain = regexp.MustCompile(`(?m)^package main\b`)
	// generatedManifest matches the manifests that controller-gen writes without any mark.
	generatedManifest = regexp.MustCompile(`^config/(rbac/role|webhook/manifests)\.yaml$`)
	// generatedMark is how Go marks generated code (https://go.dev/s/generatedcode), and what controller-gen puts into
	// the manifests that it writes.
	generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$|^\s+controller-gen\.kubebuilder\.io/version:`)
)

// readFiles reads all files of a chapter but go.mod and go.sum, hidden ones and those that aren't text.
func readFiles(chapter chapters.Chapter) ([]file, error) {
	names, err := chapters.Files(chapter.Dir, func(name string) bool { return !leftOut.MatchString(name) })
	var files []file
	for _, name := range names {
		content, readErr := os.ReadFile(filepath.Join(chapter.Dir, name))
		err = errors.Join(err, readErr)
		if utf8.Valid(content) && bytes.IndexByte(content, 0) < 0 { // no binary and no picture
			files = append(files, newFile(name, string(content)))
		}
	}
	if err != nil {
		return nil, fmt.Errorf("read the files of %s: %w", chapter.Name, err)
	}
	return files, nil
}

func newFile(name, content string) file {
	content = strings.ReplaceAll(content, "\r\n", "\n")
	if content != "" && !strings.HasSuffix(content, "\n") {
		content += "\n"
	}
	lines := slices.Collect(strings.Lines(content))
	return file{path: name, kind: kindOf(name, content), text: content, lines: lines, sorts: sortLines(name, content, lines)}
}

func kindOf(name, content string) kind {
	switch {
	case strings.HasPrefix(name, "exercises/"):
		return kindExercise
	case strings.HasPrefix(name, "pkg/generated/"), generatedManifest.MatchString(name), generatedMark.MatchString(content):
		return kindGenerated
	case testFile.MatchString(name):
		return kindTest
	case path.Ext(name) == ".md":
		return kindText
	case path.Ext(name) != ".go":
		return kindManifest
	case packageMain.MatchString(content) && path.Dir(name) != "." && path.Dir(name) != "cmd": // a program
		return kindProgram
	}
	return kindCode
}
