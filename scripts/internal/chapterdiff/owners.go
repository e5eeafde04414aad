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
			own(specName(d.Specs), d, d.Doc)
			for _, spec := range d.Specs[min(1, len(d.Specs)):] {
				own(specName([]ast.Spec{spec}), spec, specDoc(spec))
			}
		}
	}
	return owners
}

// specName is the name that the first of some specs declares.
func specName(specs []ast.Spec) string {
	if len(specs) == 0 {
		return ""
	}
	switch s := specs[0].(type) {
	case *ast.ImportSpec:
		return imports
	case *ast.TypeSpec:
		return s.Name.Name
	case *ast.ValueSpec:
		return s.Names[0].Name
	}
	return ""
}

func specDoc(spec ast.Spec) *ast.CommentGroup {
	switch s := spec.(type) {
	case *ast.TypeSpec:
		return s.Doc
	case *ast.ValueSpec:
		return s.Doc
	}
	return nil
}
