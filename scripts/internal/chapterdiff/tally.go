package chapterdiff

// This file counts lines: of code, and of comments. Blank lines don't count.

import (
	"fmt"
	"go/scanner"
	"go/token"
	"path"
	"strings"
)

type lineSort int

const (
	lineBlank lineSort = iota
	lineComment
	lineCode // code, and maybe a comment behind it
)

// tally is the number of lines of each sort.
type tally [lineCode + 1]int

func (t tally) total() int { return t[lineCode] + t[lineComment] }

// String is the number of lines of code, and of comments in parentheses.
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

// size counts a file's lines; one that isn't there has none.
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

// sortGo goes by Go's own tokens, so that it knows a comment from a string that looks like one. It can do so for code
// that doesn't parse as well.
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
		case tok == token.SEMICOLON && literal == "\n": // put in by the scanner
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
