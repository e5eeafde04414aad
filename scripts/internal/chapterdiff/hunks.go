package chapterdiff

// This file finds the lines in which two files differ.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// hunk is a run of lines around some that differ, with three lines of context.
type hunk struct {
	header string   // as unified diffs have it: @@ -1,2 +3,4 @@
	names  []string // the declarations that the differing lines belong to
	lines  []line
}

type line struct {
	mark byte // '-': in a only, '+': in b only, ' ': in both
	text string
	sort lineSort
}

// compare compares two files. One may be nil, which means that it doesn't exist. The chapters' own
// names, as in module paths, count as equal.
//
// The library is the Go project's internal/diff. Its anchored diff keeps lines that are unique in
// both files, so it doesn't confuse the closing braces of two functions. In exchange, it isn't
// always the shortest.
func compare(a, b *file, chapterA, chapterB string) []hunk {
	a, b = cmp.Or(a, &file{}), cmp.Or(b, &file{})
	ownersA, ownersB := owners(a), owners(b)
	renamed := strings.ReplaceAll(a.text, chapterA, chapterB)
	unified := diff.Diff("a", []byte(renamed), "b", []byte(b.text))

	var hunks []hunk
	var inA, inB int // the lines, from 0, that come next
	for text := range strings.Lines(string(unified)) {
		if strings.HasPrefix(text, "@@") {
			var countA, countB int
			if _, err := fmt.Sscanf(text, "@@ -%d,%d +%d,%d @@", &inA, &countA, &inB, &countB); err != nil {
				panic(fmt.Sprintf("the diff library wrote %q: %v", text, err)) // can't happen: its format is fixed
			}
			inA, inB = max(inA-1, 0), max(inB-1, 0)
			hunks = append(hunks, hunk{header: strings.TrimSuffix(text, "\n")})
			continue
		}
		if len(hunks) == 0 {
			continue // the names of the files
		}
		h := &hunks[len(hunks)-1]
		switch text[0] {
		case '-':
			h.lines = append(h.lines, line{'-', a.lines[inA], a.sorts[inA]})
			h.addName(ownersA, inA)
			inA++
		case '+':
			h.lines = append(h.lines, line{'+', b.lines[inB], b.sorts[inB]})
			h.addName(ownersB, inB)
			inB++
		default:
			h.lines = append(h.lines, line{' ', b.lines[inB], b.sorts[inB]})
			inA, inB = inA+1, inB+1
		}
	}
	return hunks
}

func (h *hunk) addName(owners []string, line int) {
	if name := owners[line]; name != "" && !slices.Contains(h.names, name) {
		h.names = append(h.names, name)
	}
}

// imports is the name of the import declaration, which has none in Go.
const imports = "imports"

// owners names the top-level declaration that each line belongs to, as code or doc comment. Other
// lines, and all lines of a file that doesn't parse, have an empty name.
func owners(f *file) []string {
	owners := make([]string, len(f.lines))
	if path.Ext(f.path) != ".go" {
		return owners
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, f.path, f.text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return owners
	}
	own := func(name string, node ast.Node, doc *ast.CommentGroup) {
		first, last := fset.Position(node.Pos()).Line, fset.Position(node.End()).Line
		if doc != nil {
			first = fset.Position(doc.Pos()).Line
		}
		for i := first - 1; i < last; i++ {
			owners[i] = name
		}
	}
	for _, decl := range parsed.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			own(d.Name.Name, d, d.Doc)
		case *ast.GenDecl:
			for i, spec := range d.Specs {
				name, doc := nameOf(spec)
				if i == 0 { // the others take their parts of the group below
					own(name, d, d.Doc)
					continue
				}
				own(name, spec, doc)
			}
		}
	}
	return owners
}

// nameOf returns the first name that spec declares, and its doc comment.
func nameOf(spec ast.Spec) (string, *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name, s.Doc
	case *ast.ValueSpec:
		return s.Names[0].Name, s.Doc
	}
	return imports, nil
}
