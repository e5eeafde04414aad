package docs

// This file checks what the top README gathers from all chapters: its glossary leads to where each term is explained, and the messages
// that it explains are those that somebody gets to see.

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/goldmark/ast"
	extension "github.com/yuin/goldmark/extension/ast"
)

const (
	topREADME       = "README.md"
	glossaryHeading = "Glossary"
	messagesHeading = "What it says, and what to do"
	// mostTerms is how many a reader can be asked to learn.
	mostTerms = 25
)

// rowsBelow are the rows, but for the head, of the table below a second-level heading.
func (d *document) rowsBelow(title string) (rows []ast.Node) {
	below := false
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level <= 2 {
			below = d.plain(h) == title
		}
		if _, ok := n.(*extension.Table); !ok || !below {
			continue
		}
		for row := n.FirstChild(); row != nil; row = row.NextSibling() {
			if _, ok := row.(*extension.TableRow); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// checkGlossary checks that each term is linked to a section that uses it.
func checkGlossary(texts library, doc *document) (problems []Problem) {
	if doc.file != topREADME {
		return nil
	}
	rows := doc.rowsBelow(glossaryHeading)
	if len(rows) > mostTerms {
		problems = append(problems, doc.problem(doc.line(rows[mostTerms]), "the glossary has %d terms, and %d are enough", len(rows), mostTerms))
	}
	for _, row := range rows {
		term := doc.plain(row.FirstChild())
		if wrong := explained(texts, doc, row, term); wrong != "" {
			problems = append(problems, doc.problem(doc.line(row), "glossary, %q: %s", term, wrong))
		}
	}
	return problems
}

// explained says what is wrong with where a term is linked to.
func explained(texts library, doc *document, row ast.Node, term string) string {
	var target string
	if all := links(row); len(all) > 0 {
		target = string(all[0].Destination)
	}
	u, err := url.Parse(target)
	if err != nil || u.Path == "" || u.Fragment == "" {
		return "it needs a link to the section that explains it"
	}
	_, text, err := resolve(texts, doc, target)
	if err != nil {
		return "" // checkLinks says so
	}
	word, _, _ := strings.Cut(term, " (")
	if !strings.Contains(strings.ToLower(text), strings.ToLower(word)) {
		return "the section " + target + " doesn't mention it"
	}
	return ""
}

// section is the text from the heading with this anchor to the next one that isn't below it, or all of the document for no anchor. It
// comes as one line, without what makes it bold or code.
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
	for _, h := range headings[i+1:] {
		if h.level <= headings[i].level {
			end = h.line - 1
			break
		}
	}
	return oneLine(strings.Join(lines[headings[i].line-1:end], "\n")), true
}

func oneLine(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("*", "", "`", "").Replace(text)), " ")
}

// checkMessages checks that each message is in a string of a test, or in what a command of a text prints.
func checkMessages(texts library, doc *document, all []string) (problems []Problem) {
	if doc.file != topREADME {
		return nil
	}
	var seen []string // made only if there is something to look for
	for _, row := range doc.rowsBelow(messagesHeading) {
		if seen == nil {
			var err error
			if seen, err = seenByTests(texts, all); err != nil {
				return append(problems, doc.problem(doc.line(row), "%v", err))
			}
		}
		for _, message := range doc.codeSpans(row.FirstChild()) {
			if !slices.ContainsFunc(seen, func(text string) bool { return hasPieces(text, strings.Split(message, ellipsis)) }) {
				problems = append(problems, doc.problem(doc.line(row), "no test, and no command in a text, has anything to do with the message %q", message))
			}
		}
	}
	return problems
}

// codeSpans are the texts in n that are marked as code.
func (d *document) codeSpans(n ast.Node) (spans []string) {
	each(n, func(n ast.Node) {
		if span, ok := n.(*ast.CodeSpan); ok {
			spans = append(spans, d.plain(span))
		}
	})
	return spans
}

// hasPieces tells whether text has all pieces, one behind the other.
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

// seenByTests are the strings in all tests, and the lines that commands in these texts print.
func seenByTests(texts library, files []string) (seen []string, err error) {
	for _, file := range files {
		doc, err := texts.document(file)
		if err != nil {
			return nil, err
		}
		doc.each(func(n ast.Node) {
			if fenced, ok := n.(*ast.FencedCodeBlock); ok && string(fenced.Language(doc.source)) == consoleLanguage {
				seen = append(seen, splitLines(fenced.Lines().Value(doc.source))...)
			}
		})
	}
	err = fs.WalkDir(texts.fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, "_test.go"):
			return nil
		}
		source, err := fs.ReadFile(texts.fsys, name)
		seen = append(seen, stringsIn(source)...)
		return err
	})
	return seen, err
}

// stringsIn are the values of the strings in Go source.
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
