package checks

// Words to avoid. The course is written in plain English, with the terms that readers can search for.

import (
	"context"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/chapters"
)

// avoid are words and phrases that sound translated, each with what to write in its place.
var avoid = []struct {
	phrase  *regexp.Regexp
	instead string
}{
	{phrase(`\bmend(s|ed|ing)?\b`), "fix"},
	{phrase(`\b(stands?|stood|standing) (in|at|by|beside|between|above|below|there|here|round|around|for itself)\b`), "is, is in"},
	{phrase(`\b(tells|told) whether\b`), "reports whether"},
	{phrase(`\banew\b`), "again"},
	{phrase(`\bfor ever\b`), "forever"},
	{phrase(`\bwho(so)?ever\b`), "if you, anyone who"},
	{phrase(`\b(takes?|taken|took|taking) (it |them |that |this )?away\b`), "delete, remove, revoke"},
	{phrase(`\b(comes?|came) of (it|this|that|them)\b`), "the result"},
	{phrase(`\ba word on\b`), "about"},
	{phrase(`\bdear\b`), "expensive"},
	{phrase(`\b(is|are|was|were|all) in order\b`), "healthy"},
	{phrase(`\b(is|are|was|were|be) given up\b`), "times out, is abandoned"},
	{phrase(`\b(key|keys|Foo|Foos|TDSet|TDSets) comes? (again|back)\b`), "is requeued, is processed again"},
	{phrase(`\bwhat (is|was) wanted\b`), "the desired state"},
	{phrase(`\b(which|what|it|that) is said\b`), "is reported"},
}

// phrase matches an expression in any case; its words may be on two lines.
func phrase(expression string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.ReplaceAll(expression, " ", `\s+`))
}

// legitimate are phrases that contain one to avoid, and are plain English.
var legitimate = regexp.MustCompile(`(?i)\b(stands?|stood|standing)\s+in\s+(for|the\s+way)\b`)

// words: no comment or message uses a phrase from avoid.
func words(_ context.Context, r *repository) error {
	names, err := chapters.Files(r.root, func(name string) bool {
		_, known := proseOf(name, "")
		return known && path.Base(name) != "words_test.go" // which quotes them
	})
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := r.read(name)
		if err != nil {
			return err
		}
		prose, _ := proseOf(name, text)
		prose = legitimate.ReplaceAllStringFunc(prose, blank)
		for _, a := range avoid {
			for _, at := range a.phrase.FindAllStringIndex(prose, -1) {
				line := 1 + strings.Count(prose[:at[0]], "\n")
				r.say("%s:%d: %q: write %q", name, line, strings.Join(strings.Fields(prose[at[0]:at[1]]), " "), a.instead)
			}
		}
	}
	return nil
}

var (
	hashes    = regexp.MustCompile(`^(?:|.*?\s)#(.*)$`)
	generated = regexp.MustCompile(`(?m)^(//|#) Code generated .* DO NOT EDIT\.$`)
)

// proseOf returns the prose in a file, and whether the file is of a kind that has any: the comments
// and strings of Go, and the comments of YAML, scripts, Makefiles and Dockerfiles. The prose is on
// the lines that it has in the file; all else is blank. Generated files have none.
func proseOf(name, text string) (prose string, known bool) {
	switch base := path.Base(name); {
	case generated.MatchString(text):
		return "", true
	case path.Ext(name) == ".go":
		return proseOfGo(text), true
	case path.Ext(name) == ".yaml", path.Ext(name) == ".sh", base == "Makefile", strings.HasPrefix(base, "Dockerfile"):
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			lines[i] = hashes.ReplaceAllString(line, "$1")
			if !hashes.MatchString(line) {
				lines[i] = ""
			}
		}
		return strings.Join(lines, "\n"), true
	}
	return "", false
}

func proseOfGo(text string) string {
	file := token.NewFileSet().AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(file, []byte(text), nil, scanner.ScanComments)
	var prose strings.Builder
	line := 1
	for {
		position, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return prose.String()
		case token.COMMENT, token.STRING:
			at := file.Line(position)
			prose.WriteString(strings.Repeat("\n", at-line) + strings.TrimPrefix(literal, "//") + " ")
			line = at + strings.Count(literal, "\n")
		}
	}
}

// blank returns as many empty lines as the text has.
func blank(text string) string {
	return " " + strings.Repeat("\n", strings.Count(text, "\n"))
}
