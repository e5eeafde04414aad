package docs

// This file updates code in Markdown. A marker directly before a fenced block names its source:
//
//	<!-- code: main.go -->                       the whole file
//	<!-- code: write.go#create,Client.update --> functions, methods and types with their doc comments
//
// The path is relative to the Markdown file.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
		i := slices.IndexFunc(parsed.Decls, func(d ast.Decl) bool { found, _ := describe(d); return found == name })
		if i < 0 {
			return "", fmt.Errorf("%s declares no %q at top level", file, name)
		}
		begin := parsed.Decls[i].Pos()
		if _, doc := describe(parsed.Decls[i]); doc != nil {
			begin = doc.Pos()
		}
		from, to := fset.Position(begin).Offset, fset.Position(parsed.Decls[i].End()).Offset
		rest, _, _ := strings.Cut(string(source[to:]), "\n") // a comment at the end of the line
		texts = append(texts, string(source[from:to])+rest)
	}
	return strings.Join(texts, "\n\n"), nil
}

// describe returns the name by which a marker selects a function, a method, or a type, and its doc
// comment.
func describe(decl ast.Decl) (name string, doc *ast.CommentGroup) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return d.Name.Name, d.Doc
		}
		receiver, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[") // without type parameters
		return strings.TrimPrefix(receiver, "*") + "." + d.Name.Name, d.Doc
	case *ast.GenDecl:
		if t, ok := d.Specs[0].(*ast.TypeSpec); ok {
			return t.Name.Name, d.Doc
		}
	}
	return "", nil
}

func splitLines(text []byte) []string {
	return strings.Split(string(text), "\n")
}
