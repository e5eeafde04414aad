package docs

// This file updates code in Markdown. A marker directly before a fenced block names its source:
//
//	<!-- code: main.go -->                       the whole file
//	<!-- code: write.go#create,Client.update --> top-level declarations with doc comments
//
// The path is relative to the Markdown file. A name in a group includes the whole group.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	markdownast "github.com/yuin/goldmark/ast"
)

const codeMarkerStart = "<!-- code:"

var codeMarker = regexp.MustCompile(`^<!-- code: ([^\s#]+)(?:#(\S+))? -->$`)

// errUnmarked is the problem of code in a chapter's README without a marker.
var errUnmarked = errors.New("code in a README is extracted from the source: " +
	"put `<!-- code: PATH#Name -->` before this block and run `workshop docs --write`")

func isUnmarked(doc *document, n markdownast.Node) bool {
	fenced, ok := n.(*markdownast.FencedCodeBlock)
	return ok && string(fenced.Language(doc.source)) == "go" && chapterREADME.MatchString(doc.file) &&
		!strings.Contains(doc.html(n.PreviousSibling()), codeMarkerStart)
}

func markedCode(fsys fs.FS, doc *document, n markdownast.Node, html string) (markedBlock, error) {
	parts := codeMarker.FindStringSubmatch(html)
	fenced, found := n.NextSibling().(*markdownast.FencedCodeBlock)
	if parts == nil || !found {
		return markedBlock{}, errors.New(
			"a marker is `<!-- code: PATH#Name,Type.Method -->`, directly before a block of code")
	}
	file, err := inRepository(fsys, doc.file, parts[1])
	if err != nil {
		return markedBlock{}, err
	}
	code, err := extract(fsys, file, parts[2])
	if err != nil {
		return markedBlock{}, err
	}
	from := doc.line(fenced) // the index of the line after the fence
	return markedBlock{from: from, to: from + fenced.Lines().Len(), want: code}, nil
}

// extract returns a file's text, or its declarations with these names, which are separated by
// commas.
func extract(fsys fs.FS, file, names string) (string, error) {
	source, err := fs.ReadFile(fsys, file)
	if err != nil {
		return "", err
	}
	if names == "" {
		return strings.TrimRight(string(source), "\n"), nil
	}
	fset := token.NewFileSet()
	parsed, err := parser.ParseFile(fset, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}

	var texts []string
	for name := range strings.SplitSeq(names, ",") {
		i := slices.IndexFunc(parsed.Decls, func(d ast.Decl) bool { return slices.Contains(declares(d), name) })
		if i < 0 {
			return "", fmt.Errorf("%s declares no %q at top level", file, name)
		}
		from, to := fset.Position(begin(parsed.Decls[i])).Offset, fset.Position(parsed.Decls[i].End()).Offset
		rest, _, _ := strings.Cut(string(source[to:]), "\n") // a comment at the end of the line
		if text := string(source[from:to]) + rest; !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// begin returns the position of a declaration, or of its doc comment.
func begin(decl ast.Decl) token.Pos {
	var doc *ast.CommentGroup
	switch d := decl.(type) {
	case *ast.FuncDecl:
		doc = d.Doc
	case *ast.GenDecl:
		doc = d.Doc
	}
	if doc == nil {
		return decl.Pos()
	}
	return doc.Pos()
}

// declares returns the names by which a marker can select a declaration.
func declares(decl ast.Decl) (names []string) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		for node := range ast.Preorder(d.Recv.List[0].Type) {
			// The first identifier comes after the pointer and before the type parameters.
			if receiver, ok := node.(*ast.Ident); ok {
				return []string{receiver.Name + "." + d.Name.Name}
			}
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, s.Name.Name)
			case *ast.ValueSpec:
				for _, name := range s.Names {
					names = append(names, name.Name)
				}
			}
		}
	}
	return names
}

func splitLines(text []byte) []string {
	return strings.Split(string(text), "\n")
}
