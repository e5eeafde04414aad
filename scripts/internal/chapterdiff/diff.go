// Package chapterdiff shows what changes from one chapter to another.
package chapterdiff

import (
	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/problem"
)

type Diff struct {
	A, B  chapters.Chapter
	all   bool
	pairs []pair // in reading order
}

// Compare compares two chapters. With all, the diff also shows tests, exercises, the lines of
// deleted files, and programs that only one of the chapters has.
func Compare(a, b chapters.Chapter, all bool) (Diff, error) {
	if a.Name == b.Name {
		return Diff{}, problem.New("%s compared with itself has no changes", a.Name).
			ToDo("name two chapters, such as 01 and 02")
	}
	filesA, err := readFiles(a)
	if err != nil {
		return Diff{}, err
	}
	filesB, err := readFiles(b)
	if err != nil {
		return Diff{}, err
	}
	pairs := pairUp(byCommonName(a, filesA), byCommonName(b, filesB))
	for i := range pairs {
		p := &pairs[i]
		p.hunks = compare(p.a, p.b, a.Name, b.Name)
		p.removed, p.added = count(p.hunks)
	}
	if b.Solved {
		inReadingOrder(pairs, []string{solves[b.Number()]}, nil)
	} else {
		inReadingOrder(pairs, lessons[b.Number()], passes[b.Number()])
	}
	return Diff{A: a, B: b, all: all, pairs: pairs}, nil
}

// Lines counts lines of handwritten Go, with comments and without blank ones: Removed and Added in
// files that both chapters have, and all lines of New and of Gone files. Tests, exercises,
// generated code and programs of their own don't count.
type Lines struct{ Removed, Added, New, Gone int }

// ToRead is the number of lines that a reader of the diff reads.
func (l Lines) ToRead() int { return l.Removed + l.Added + l.New }

func (d Diff) lines() (l Lines) {
	for _, p := range d.pairs {
		if p.kind() != kindCode {
			continue
		}
		switch p.state() {
		case stateChanged:
			l.Removed += p.removed.total()
			l.Added += p.added.total()
		case stateNew:
			l.New += p.added.total()
		case stateGone:
			l.Gone += p.removed.total()
		}
	}
	return l
}
