// Package carry takes functions out of one Go file, to put them into another. Learners use it to go
// on with what they wrote in an earlier chapter. `workshop diff --tdset` uses it to compare a
// function with its older version in another file.
package carry

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"slices"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/tools/go/ast/astutil"
)

// Source is a Go file, split into its declarations.
type Source struct {
	text  string
	file  *ast.File
	fset  *token.FileSet
	decls []decl
}

// decl is a declaration other than an import, with its comment.
type decl struct {
	names      []string
	node       ast.Decl
	start, end int // its place in the text
}

// Parse parses a file's text. The name is only for errors.
func Parse(name, text string) (*Source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	s := &Source{text: text, file: file, fset: fset}
	for _, node := range file.Decls {
		d := decl{node: node, start: s.offset(node.Pos()), end: s.offset(node.End())}
		switch node := node.(type) {
		case *ast.FuncDecl:
			d.names = []string{node.Name.Name}
			if node.Doc != nil {
				d.start = s.offset(node.Doc.Pos())
			}
		case *ast.GenDecl:
			if node.Tok == token.IMPORT {
				continue
			}
			d.names = namesIn(node)
			if node.Doc != nil {
				d.start = s.offset(node.Doc.Pos())
			}
		}
		if line, _, found := strings.Cut(text[d.end:], "\n"); found {
			d.end += len(line) // a comment on the same line
		}
		s.decls = append(s.decls, d)
	}
	return s, nil
}

func (s *Source) offset(pos token.Pos) int { return s.fset.Position(pos).Offset }

func namesIn(node *ast.GenDecl) (names []string) {
	for _, spec := range node.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

// Names returns all names that the file declares. A method's name has no receiver.
func (s *Source) Names() (all []string) {
	for _, d := range s.decls {
		all = append(all, d.names...)
	}
	return all
}

// Split divides the file into two, both from the package clause on. take has the declarations of
// those names, and of everything that they use from this file. rest has the other declarations. A
// declaration of a name in elsewhere stays in rest, because the package that gets take declares it
// already. Both import only what they use. The error says which name the file doesn't declare.
func (s *Source) Split(names, elsewhere []string) (take, rest string, err error) {
	for _, name := range names {
		if !slices.Contains(s.Names(), name) {
			return "", "", fmt.Errorf("%s declares no %s", s.fset.Position(s.file.Pos()).Filename, name)
		}
	}
	taken := s.closure(names, elsewhere)
	take, err = s.only(func(i int) bool { return taken[i] })
	if err != nil {
		return "", "", err
	}
	rest, err = s.only(func(i int) bool { return !taken[i] })
	return take, rest, err
}

// closure returns the indices of those names' declarations, and of the declarations that they use.
func (s *Source) closure(names, elsewhere []string) map[int]bool {
	taken := map[int]bool{}
	for len(names) > 0 {
		var next []string
		for i, d := range s.decls {
			if taken[i] || !slices.ContainsFunc(d.names, func(name string) bool { return slices.Contains(names, name) }) {
				continue
			}
			taken[i] = true
			ast.Inspect(d.node, func(node ast.Node) bool {
				if used, ok := node.(*ast.Ident); ok && !slices.Contains(elsewhere, used.Name) {
					next = append(next, used.Name)
				}
				return true
			})
		}
		names = next
	}
	return taken
}

// only returns the file with some of its declarations, and the imports that these use.
func (s *Source) only(wanted func(i int) bool) (string, error) {
	var b strings.Builder
	b.WriteString("package " + s.file.Name.Name + "\n\n")
	for _, node := range s.file.Decls {
		if imports, ok := node.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			b.WriteString(s.text[s.offset(imports.Pos()):s.offset(imports.End())] + "\n\n")
		}
	}
	for i, d := range s.decls {
		if wanted(i) {
			b.WriteString(s.text[d.start:d.end] + "\n\n")
		}
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", b.String(), parser.ParseComments)
	if err != nil {
		return "", err
	}
	deleteUnused(fset, file)
	var out strings.Builder
	if err := format.Node(&out, fset, file); err != nil {
		return "", err
	}
	return out.String(), nil
}

// deleteUnused deletes the imports that the file doesn't use.
func deleteUnused(fset *token.FileSet, file *ast.File) {
	used := map[string]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if name, ok := selector.X.(*ast.Ident); ok {
				used[name.Name] = true
			}
		}
		return true
	})
	for _, spec := range slices.Clone(file.Imports) {
		path := strings.Trim(spec.Path.Value, `"`)
		switch {
		case spec.Name == nil && !used[packageName(path)]:
			astutil.DeleteImport(fset, file, path)
		case spec.Name != nil && !used[spec.Name.Name]:
			astutil.DeleteNamedImport(fset, file, spec.Name.Name, path)
		}
	}
}

// packageName returns the usual name of the package with that import path, which is the path's last
// element that isn't a major version.
func packageName(path string) string {
	prefix, _, ok := module.SplitPathVersion(path)
	if !ok {
		prefix = path
	}
	return prefix[strings.LastIndex(prefix, "/")+1:]
}

// Head returns what a file has above its package clause: its build constraint and its comment.
func Head(text string) string {
	if strings.HasPrefix(text, "package ") {
		return ""
	}
	head, _, found := strings.Cut(text, "\npackage ")
	if !found {
		return ""
	}
	return head + "\n"
}
