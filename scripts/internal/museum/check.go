package museum

// This file tells whether the repository has what an exhibit names: its tests, and texts that speak of it.

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/docs"
)

// Problems are what is wrong with an exhibit of the repository fsys, a sentence each.
func (e Exhibit) Problems(fsys fs.FS) (problems []string) {
	say := func(err error) {
		if err != nil {
			problems = append(problems, err.Error())
		}
	}
	for what, missing := range map[string]bool{
		"where it is shown": len(e.Shown) == 0, "a test that shows the bug": len(e.Fails) == 0,
		"a test that shows the mend": len(e.Mended) == 0, "where it is from": len(e.Upstream) == 0,
	} {
		if missing {
			say(errors.New("it doesn't name " + what))
		}
	}
	for _, section := range e.Shown {
		say(section.check(fsys))
	}
	for _, test := range slices.Concat(e.Fails, e.Mended) {
		say(test.check(fsys))
	}
	for _, test := range e.Fails {
		say(test.checkFails(fsys))
	}
	for _, place := range e.Upstream {
		say(place.check())
	}
	slices.Sort(problems)
	return problems
}

// check: the section is there, and says so.
func (s Section) check(fsys fs.FS) error {
	text, found, err := docs.Section(fsys, s.File, s.Heading)
	switch {
	case err != nil:
		return err
	case !found:
		return fmt.Errorf("%s has no section %q", s.File, s.Heading)
	case s.Words == "" || !strings.Contains(text, s.Words):
		return fmt.Errorf("%s, section %q, doesn't say %q", s.File, s.Heading, s.Words)
	}
	return nil
}

// check: the function is in the file, and so are the names of the subtests.
func (t Test) check(fsys fs.FS) error {
	content, err := fs.ReadFile(fsys, t.File)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(token.NewFileSet(), t.File, content, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	function, subtests, _ := strings.Cut(t.Name, "/")
	declared := slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
		f, is := d.(*ast.FuncDecl)
		return is && f.Recv == nil && f.Name.Name == function
	})
	if !declared || !strings.HasPrefix(function, "Test") {
		return fmt.Errorf("%s has no test %s", t.File, function)
	}
	var literals []string
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, is := n.(*ast.BasicLit); is && literal.Kind == token.STRING {
			if text, err := strconv.Unquote(literal.Value); err == nil {
				literals = append(literals, text)
			}
		}
		return true
	})
	for subtest := range strings.SplitSeq(subtests, "/") {
		if subtest != "" && !slices.Contains(literals, subtest) {
			return fmt.Errorf("%s has no subtest %q", t.File, subtest)
		}
	}
	return nil
}

// checkFails: if it is an exercise's, then it is one of those that are proved to fail as given.
func (t Test) checkFails(fsys fs.FS) error {
	if _, exercise := exerciseOf(t.File); !exercise {
		return nil
	}
	content, err := fs.ReadFile(fsys, t.File)
	if err != nil {
		return nil // check says so
	}
	if !slices.Contains(strings.Split(string(content), "\n"), "// fails: "+t.Name) {
		return fmt.Errorf("%s doesn't say at its head that %s fails as given", t.File, t.Name)
	}
	return nil
}

// pinned is an address that means the same for ever, as far as a tag does.
var pinned = regexp.MustCompile(`^https://github\.com/[^/]+/[^/]+/blob/(v[0-9]+\.[0-9]+\.[0-9]+|[0-9a-f]{40})/.+[^/]$`)

// check: the address is one of a file at a commit or a tag. It isn't fetched.
func (p Place) check() error {
	if !pinned.MatchString(p.URL) {
		return fmt.Errorf("%s isn't the address of a file at a commit or a tag", p.URL)
	}
	return nil
}
