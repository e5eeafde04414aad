package exercises

// What can be read in the exercise's source: the sentences of its tests, their order, and which of the learner's functions a
// test calls. A file that doesn't parse tells nothing, which is no error: the compiler will have said it.

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// workMark is what marks the places to work on.
const workMark = "YOUR WORK"

// source is what was read.
type source struct {
	tests     map[string]int         // top-level functions of the test file → line
	sentences map[string]sentence    // names of subtests, as go test has them
	uses      map[string][]string    // top-level functions of the test file → names in it, in order
	functions map[string]declaration // of exercise.go
}

type sentence struct {
	line int
	text string
}

type declaration struct {
	line   int
	marked bool // work is to be done in it
}

func readSource(e Exercise) source {
	s := source{map[string]int{}, map[string]sentence{}, map[string][]string{}, map[string]declaration{}}
	fset := token.NewFileSet()
	line := func(n ast.Node) int { return fset.Position(n.Pos()).Line }
	if file, err := parser.ParseFile(fset, e.File(testFile), nil, parser.SkipObjectResolution); err == nil {
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || function.Recv != nil {
				continue
			}
			name := function.Name.Name
			s.tests[name] = line(function)
			ast.Inspect(function, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Ident:
					s.uses[name] = append(s.uses[name], n.Name)
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
						if _, known := s.sentences[asTestName(text)]; !known {
							s.sentences[asTestName(text)] = sentence{line(n), text}
						}
					}
				}
				return true
			})
		}
	}
	if file, err := parser.ParseFile(fset, e.File(exerciseFile), nil, parser.ParseComments|parser.SkipObjectResolution); err == nil {
		for _, decl := range file.Decls {
			if function, ok := decl.(*ast.FuncDecl); ok {
				marked := slices.ContainsFunc(file.Comments, func(c *ast.CommentGroup) bool {
					return function.Pos() < c.Pos() && c.Pos() < function.End() && strings.Contains(c.Text(), workMark)
				})
				s.functions[function.Name.Name] = declaration{line(function), marked}
			}
		}
	}
	return s
}

// asTestName is a sentence as it becomes part of a test's name: go test has no blanks there.
func asTestName(sentence string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, sentence)
}

// split takes a test's name apart: its function, and the sentence of the subtest if it is one.
func split(name string) (function, subtest string) {
	function, subtest, _ = strings.Cut(name, "/")
	return function, subtest
}

// sentence is a test's name as a sentence.
func (s source) sentence(name string) string {
	function, subtest := split(name)
	if subtest == "" {
		return inWords(strings.TrimPrefix(function, "Test"))
	}
	if found, ok := s.lookUp(subtest); ok {
		return found.text
	}
	return strings.ReplaceAll(subtest, "_", " ")
}

// lookUp finds the sentence that a subtest's name was made of. In "a/b", that may be b: a subtest of a subtest.
func (s source) lookUp(subtest string) (sentence, bool) {
	for {
		if found, ok := s.sentences[subtest]; ok {
			return found, true
		}
		_, rest, more := strings.Cut(subtest, "/")
		if !more {
			return sentence{}, false
		}
		subtest = rest
	}
}

// inWords is "a watch ends" of "AWatchEnds". Abbreviations stay.
func inWords(name string) string {
	var words []string
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		end := i == len(runes) || runes[i] == '_' ||
			unicode.IsUpper(runes[i]) && (!unicode.IsUpper(runes[i-1]) || i+1 < len(runes) && unicode.IsLower(runes[i+1]))
		if !end {
			continue
		}
		word := strings.Trim(string(runes[start:i]), "_")
		if len(word) == 1 || strings.ToUpper(word) != word {
			word = strings.ToLower(word)
		}
		if word != "" {
			words = append(words, word)
		}
		start = i
	}
	return strings.Join(words, " ")
}

// asked is the line in the test file that says what a test expects: its row in the table, if there is one. 0: unknown.
func (s source) asked(name string) int {
	_, subtest := split(name)
	found, _ := s.lookUp(subtest)
	return found.line
}

// called is the line of the function of the learner's that a test calls, be it by way of a helper: the first in which work is
// marked, or the first at all. It is 0 if there is none.
func (s source) called(name string) (line int, why string) {
	top, _ := split(name)
	seen := map[string]bool{}
	var found []string
	var visit func(string)
	visit = func(caller string) {
		for _, used := range s.uses[caller] {
			if seen[used] {
				continue
			}
			seen[used] = true
			if _, ok := s.functions[used]; ok {
				found = append(found, used)
			}
			visit(used)
		}
	}
	visit(top)
	if len(found) == 0 {
		return 0, ""
	}
	i := max(0, slices.IndexFunc(found, func(f string) bool { return s.functions[f].marked }))
	return s.functions[found[i]].line, "the test calls " + found[i]
}

// sort brings tests into the order of the source: a table that is a map is gone through in any.
func (s source) sort(tests []Test) {
	slices.SortStableFunc(tests, func(a, b Test) int {
		functionA, _ := split(a.Name)
		functionB, _ := split(b.Name)
		return cmp.Or(cmp.Compare(s.tests[functionA], s.tests[functionB]), cmp.Compare(s.asked(a.Name), s.asked(b.Name)))
	})
}
