package chapterdiff

// This file reads a chapter's files, and counts their lines of code and of comments.

import (
	"bytes"
	"errors"
	"fmt"
	"go/scanner"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/operators/scripts/internal/chapters"
)

// Kinds are shown in this order.
type kind int

const (
	kindCode      kind = iota // handwritten Go of the chapter's program
	kindProgram               // another program in the chapter, such as a warm-up: its handwritten Go and its manifests
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
	// leftOut matches files that don't matter to the lesson: go.mod, go.sum and hidden files, what
	// an exercise's solution replaces, and what is only for its checks.
	leftOut     = regexp.MustCompile(`(^|/)(go\.(mod|sum)$|\.)|^exercise\.go$|^mistakes\.yaml$`)
	testFile    = regexp.MustCompile(`_test\.go$|(^|/)(test|testdata)/`)
	packageMain = regexp.MustCompile(`(?m)^package main\b`)
	// generatedManifest matches the manifests that controller-gen writes without any mark.
	generatedManifest = regexp.MustCompile(`^config/(rbac/role|webhook/manifests)\.yaml$`)
	// generatedMark matches Go's mark (https://go.dev/s/generatedcode) and controller-gen's
	// annotation.
	generatedMark = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$|^\s+controller-gen\.kubebuilder\.io/version:`)
)

// readFiles reads all text files of a chapter except go.mod, go.sum and hidden ones.
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
	markPrograms(files)
	return files, nil
}

// markPrograms marks what is below the folder of another program as that program's, such as its
// manifests. hack/ is different: its scripts generate code for the chapter's own program.
func markPrograms(files []file) {
	folders := map[string]bool{}
	for _, f := range files {
		if folder := path.Dir(f.path); f.kind == kindProgram && folder != "hack" {
			folders[folder] = true
		}
	}
	for i, f := range files {
		for folder := path.Dir(f.path); f.kind == kindManifest && folder != "."; folder = path.Dir(folder) {
			if folders[folder] {
				files[i].kind = kindProgram
			}
		}
	}
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

type lineSort int

const (
	lineBlank lineSort = iota
	lineComment
	lineCode // code, and maybe a comment behind it
)

// tally is the number of lines of each sort.
type tally [lineCode + 1]int

func (t tally) total() int { return t[lineCode] + t[lineComment] }

func (t tally) String() string {
	switch {
	case t.total() == 0:
		return "-"
	case t[lineComment] == 0:
		return fmt.Sprint(t[lineCode])
	}
	return fmt.Sprintf("%d (%d)", t[lineCode], t[lineComment])
}

func count(hunks []hunk) (removed, added tally) {
	for _, h := range hunks {
		for _, l := range h.lines {
			switch l.mark {
			case '-':
				removed[l.sort]++
			case '+':
				added[l.sort]++
			}
		}
	}
	return removed, added
}

// size counts the lines of a file, which may be nil.
func (f *file) size() (size tally) {
	if f != nil {
		for _, s := range f.sorts {
			size[s]++
		}
	}
	return size
}

func sortLines(name, content string, lines []string) []lineSort {
	sorts := make([]lineSort, len(lines))
	if path.Ext(name) == ".go" {
		sortGo(content, sorts)
	}
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			sorts[i] = lineBlank // in a Go comment or string too
		case path.Ext(name) == ".go":
		case strings.HasPrefix(line, "#") && path.Ext(name) != ".md":
			sorts[i] = lineComment
		default:
			sorts[i] = lineCode
		}
	}
	return sorts
}

// sortGo uses Go's tokens, because a string may look like a comment. The code needn't parse.
func sortGo(content string, sorts []lineSort) {
	fset := token.NewFileSet()
	file := fset.AddFile("", fset.Base(), len(content))
	var s scanner.Scanner
	s.Init(file, []byte(content), func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, literal := s.Scan()
		what := lineCode
		switch {
		case tok == token.EOF:
			return
		case tok == token.SEMICOLON && literal == "\n": // inserted by the scanner
			continue
		case tok == token.COMMENT:
			what = lineComment
		}
		first := file.Line(pos) - 1
		last := first + strings.Count(literal, "\n")
		for i := first; i <= last && i < len(sorts); i++ { // a literal without an end goes on beyond the last line
			sorts[i] = max(sorts[i], what)
		}
	}
}
