// Package chapterdiff shows what changes from one chapter to another, so that the diff is the lesson and nothing else.
//
// This file puts it together: the two chapters' files in pairs, each pair compared, all in reading order. What a chapter's
// files are is files.go's; which are pairs and what is read first, order.go's; the lines that differ, hunks.go's. What is
// made of it stands in print.go (to read), stat.go (to count) and budget.go (for all chapters).
package chapterdiff

import (
	"fmt"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
)

// Options say what is shown besides the handwritten code and the manifests.
type Options struct {
	Tests     bool // tests and their data
	Exercises bool
	All       bool // the lines of what is gone, and of programs that only one of the chapters has
}

// Diff is what changes from chapter A to chapter B.
type Diff struct {
	A, B    chapters.Chapter
	options Options
	pairs   []pair // in reading order
}

// Compare compares all files of two chapters. The options matter to what is shown later, not to what is compared.
func Compare(a, b chapters.Chapter, options Options) (Diff, error) {
	if a.Name == b.Name {
		return Diff{}, &problem.Problem{
			What: fmt.Sprintf("%s compared with itself: there is nothing to see", a.Name),
			Mend: "name two chapters, such as 01 and 02",
		}
	}
	filesA, err := readFiles(a)
	if err != nil {
		return Diff{}, err
	}
	filesB, err := readFiles(b)
	if err != nil {
		return Diff{}, err
	}
	pairs := pairUp(filesA, filesB)
	for i := range pairs {
		p := &pairs[i]
		p.hunks = compare(p.a, p.b, a.Name, b.Name)
		p.removed, p.added = count(p.hunks)
	}
	inReadingOrder(pairs)
	return Diff{A: a, B: b, options: options, pairs: pairs}, nil
}

// Changed is the number of lines that a reader of the diff reads: in handwritten Go files that both chapters have, those
// added and those removed; and all lines of new ones. Comments count, blank lines don't. Left out are files that are gone,
// since nobody reads them again, tests, manifests, text, exercises, generated code and programs of their own.
func Changed(a, b chapters.Chapter) (lines int, err error) {
	diff, err := Compare(a, b, Options{})
	if err != nil {
		return 0, err
	}
	return diff.toRead(), nil
}

func (d Diff) toRead() int {
	lines := 0
	for _, p := range d.pairs {
		if p.kind() == kindCode && p.state() != stateGone {
			lines += p.added.total() + p.removed.total()
		}
	}
	return lines
}
