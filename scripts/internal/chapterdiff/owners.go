package chapterdiff

// This file finds the names that stand behind a hunk's @@.

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
)

// imports is what the import declaration is called here: it has no name.
const imports = "imports"

// owners names, for each line of a file, the top-level declaration that it belongs to, doc comment included. Where there
// is none, or the file doesn't parse, the name is empty.
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
				if i == 0 { // the whole group is the first one's, as far as no other has its part of it
					own(name, d, d.Doc)
					continue
				}
				own(name, spec, doc)
			}
		}
	}
	return owners
}

// nameOf is the first name that a part of a declaration declares, and its own comment.
func nameOf(spec ast.Spec) (string, *ast.CommentGroup) {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Name.Name, s.Doc
	case *ast.ValueSpec:
		return s.Names[0].Name, s.Doc
	}
	return imports, nil
}
