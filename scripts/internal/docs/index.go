package docs

// This file checks two pages about all chapters: the glossary links to the explanation of each
// term, and each message on the page for troubleshooting is in a test or in a text.

import (
	"errors"
	"go/scanner"
	"go/token"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"

	"example.com/operators/scripts/internal/chapters"
)

const (
	glossaryPage        = "scripts/docs/glossary.md"
	troubleshootingPage = "scripts/docs/troubleshooting.md"
	mostTerms           = 26
)

// checkGlossary checks that each term is linked to a section that uses it.
func checkGlossary(texts library, doc *document) (problems []Problem) {
	if doc.file != glossaryPage {
		return nil
	}
	rows := all[*extension.TableRow](doc.root)
	if len(rows) > mostTerms {
		problems = append(problems, doc.problem(doc.line(rows[mostTerms]), "the glossary has %d terms, and %d are enough", len(rows), mostTerms))
	}
	for _, row := range rows {
		term, target := doc.plain(row.FirstChild()), ""
		if links := all[*ast.Link](row); len(links) > 0 {
			target = string(links[0].Destination)
		}
		if file, anchor, _ := strings.Cut(target, "#"); file == "" || anchor == "" {
			problems = append(problems, doc.problem(doc.line(row), "glossary, %q: it needs a link to the section that explains it", term))
			continue
		}
		_, text, err := resolve(texts, doc, target)
		word, _, _ := strings.Cut(term, " (")
		if err == nil && !strings.Contains(strings.ToLower(text), strings.ToLower(word)) { // checkLinks reports an error
			problems = append(problems, doc.problem(doc.line(row), "glossary, %q: the section %s doesn't mention it", term, target))
		}
	}
	return problems
}

// section returns the section with this anchor and its subsections, or the whole document for no
// anchor, as one line without marks for bold and code.
func (d *document) section(anchored string) (text string, found bool) {
	if anchored == "" {
		return oneLine(string(d.source)), true
	}
	lines, headings := splitLines(d.source), d.headings()
	i := slices.IndexFunc(headings, func(h heading) bool { return anchor(h.text) == anchored })
	if i < 0 {
		return "", false
	}
	end := len(lines)
	after := headings[i+1:]
	if next := slices.IndexFunc(after, func(h heading) bool { return h.level <= headings[i].level }); next >= 0 {
		end = after[next].line - 1
	}
	return oneLine(strings.Join(lines[headings[i].line-1:end], "\n")), true
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}

// checkMessages checks that each message is in a test's string or in a text's console block.
func (r Repository) checkMessages(texts library, doc *document) (problems []Problem) {
	if doc.file != troubleshootingPage {
		return nil
	}
	rows := all[*extension.TableRow](doc.root)
	if len(rows) == 0 {
		return nil
	}
	seen, err := r.shownMessages(texts)
	if err != nil {
		return []Problem{doc.problem(doc.line(rows[0]), "%v", err)}
	}
	for _, row := range rows {
		for _, span := range all[*ast.CodeSpan](row.FirstChild()) {
			message := doc.plain(span)
			if !slices.ContainsFunc(seen, func(text string) bool { return hasPieces(text, strings.Split(message, ellipsis)) }) {
				problems = append(problems, doc.problem(doc.line(row), "no test, and no command in a text, has anything to do with the message %q", message))
			}
		}
	}
	return problems
}

// hasPieces reports whether text has all pieces in order.
func hasPieces(text string, pieces []string) bool {
	for _, piece := range pieces {
		_, rest, found := strings.Cut(text, strings.TrimSpace(piece))
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// shownMessages returns the strings in all tests, and the lines of all console blocks.
func (r Repository) shownMessages(texts library) (seen []string, err error) {
	files, err := Files(r.Root)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		doc, err := texts.document(file)
		if err != nil {
			return nil, err
		}
		for _, fenced := range all[*ast.FencedCodeBlock](doc.root) {
			if string(fenced.Language(doc.source)) == consoleLanguage {
				seen = append(seen, splitLines(fenced.Lines().Value(doc.source))...)
			}
		}
	}
	tests, err := chapters.Files(r.Root, func(name string) bool { return strings.HasSuffix(name, "_test.go") })
	for _, name := range tests {
		source, readErr := fs.ReadFile(texts.fsys, name)
		seen = append(seen, stringsIn(source)...)
		err = errors.Join(err, readErr)
	}
	return seen, err
}

func stringsIn(source []byte) (values []string) {
	file := token.NewFileSet().AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for {
		_, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return values
		case token.STRING:
			if value, err := strconv.Unquote(literal); err == nil {
				values = append(values, value)
			}
		}
	}
}
