package chapterdiff

// This file counts a chapter's code by declaration, for who asks what it is for.

import (
	"path"

	"example.com/operators/scripts/internal/chapters"
)

// Part is one line of a chapter's program; comments and blank lines don't count.
type Part struct {
	// File is relative to the chapter, with slashes. Declaration is the name of a function (without its receiver), type, variable
	// or constant, "imports" for those, and "" for what stands outside of all, such as the package clause.
	File, Declaration string
}

// Parts returns the handwritten Go of a chapter's program, the same lines that SizeOf counts, line by line.
func Parts(chapter chapters.Chapter) ([]Part, error) {
	files, err := readFiles(chapter)
	var parts []Part
	for i := range files {
		f := &files[i]
		if f.kind != kindCode {
			continue
		}
		for line, owner := range owners(f) {
			if f.sorts[line] == lineCode {
				parts = append(parts, Part{File: f.path, Declaration: owner})
			}
		}
	}
	return parts, err
}

// Beside counts what stands beside a chapter's handwritten Go: lines of Go that generators wrote, and of manifests and scripts that they
// didn't.
func Beside(chapter chapters.Chapter) (generated, manifests int, err error) {
	files, err := readFiles(chapter)
	for _, f := range files {
		switch {
		case f.kind == kindGenerated && path.Ext(f.path) == ".go":
			generated += f.size().code
		case f.kind == kindManifest:
			manifests += f.size().code
		}
	}
	return generated, manifests, err
}
