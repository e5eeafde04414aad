package chapters

// This file reads a chapter's files, sorts them into kinds, and counts their lines.

import (
	"bytes"
	"context"
	"fmt"
	"go/scanner"
	"go/token"
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
	other                 // tests, texts, exercises, and programs besides the chapter's
)

var (
	// leftOut matches hidden files, modules, and an exercise's file that its solution replaces.
	leftOut       = regexp.MustCompile(`(^|/)(go\.(mod|sum)$|\.)|^exercise\.go$|^mistakes\.yaml$`)
	isOther       = regexp.MustCompile(`^exercises/|_test\.go$|(^|/)(test|testdata)/|\.md$`)
	isGenerated   = regexp.MustCompile(`^pkg/generated/|^config/(rbac/role|webhook/manifests)\.yaml$`)
	saysGenerated = regexp.MustCompile(
		`(?m)^// Code generated .* DO NOT EDIT\.$|^\s+controller-gen\.kubebuilder\.io/version:`)
	packageMain = regexp.MustCompile(`(?m)^package main\b`)
)

type file struct {
	kind kind
	text string
}

// files returns the chapter's text files, by their paths relative to the chapter.
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
		if bytes.IndexByte(content, 0) >= 0 { // a picture or a program
			continue
		}
		f := file{kindOf(name, content), string(content)}
		if folder := path.Dir(name); f.kind == program && packageMain.Match(content) && folder != "." && folder != "cmd" {
			f.kind = other
			otherPrograms[topFolder(name)] = true
		}
		found[name] = f
	}
	// What lies beside another program belongs to it, but the scripts in hack/ generate code for the
	// chapter's own.
	for name, f := range found {
		if folder := topFolder(name); f.kind == manifest && otherPrograms[folder] && folder != "hack" {
			found[name] = file{other, f.text}
		}
	}
	return found, nil
}

func topFolder(name string) string {
	folder, _, _ := strings.Cut(name, "/")
	return folder
}

func kindOf(name string, content []byte) kind {
	switch {
	case isOther.MatchString(name):
		return other
	case isGenerated.MatchString(name), saysGenerated.Match(content):
		return generated
	case path.Ext(name) == ".go":
		return program
	}
	return manifest
}

// Lines counts the lines of a chapter's program and of its diff from the chapter before. Blank lines
// count nowhere, and comments only in Comments and in the diff.
type Lines struct {
	Chapter
	Files, Code, Comments int // handwritten Go
	Generated, Manifests  int // generated Go, handwritten manifests and scripts
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
			code, comments := countLines(name, f.text)
			switch {
			case f.kind == program:
				lines.Files++
				lines.Code += code
				lines.Comments += comments
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

// countLines counts a file's lines of code and of comments. Go is read with Go's scanner, because a
// string may look like a comment.
func countLines(name, text string) (code, comments int) {
	isCode := map[int]bool{} // by line number, from 1
	if path.Ext(name) == ".go" {
		file := token.NewFileSet().AddFile(name, -1, len(text))
		var s scanner.Scanner
		s.Init(file, []byte(text), func(token.Position, string) {}, 0)
		for pos, tok, literal := s.Scan(); tok != token.EOF; pos, tok, literal = s.Scan() {
			if tok == token.SEMICOLON && literal == "\n" {
				continue // the scanner has inserted it, perhaps after a comment
			}
			for i := range 1 + strings.Count(literal, "\n") {
				isCode[file.Line(pos)+i] = true
			}
		}
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimSpace(line)
		switch {
		case line == "":
		case isCode[number], path.Ext(name) != ".go" && !strings.HasPrefix(line, "#"):
			code++
		default:
			comments++
		}
	}
	return code, comments
}
