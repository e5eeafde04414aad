package verdict

// The exercise's source has the sentences of its tests (sentences.go), their order, and the place
// that a test is about. A file that doesn't parse is ignored, because the compiler reports it.

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"example.com/operators/scripts/internal/exercises"
)

type source struct {
	exercise  exercises.Exercise
	files     *token.FileSet
	sentences map[string]sentence  // by go test's names
	functions map[string]*function // of all files; of two with the same name, the learner's
	marks     []mark
}

// mark is a YOUR WORK in exercise.go.
type mark struct {
	at token.Pos
	in string // the function; "": it is outside of functions
}

type sentence struct {
	at   token.Pos
	text string
}

type function struct {
	at       token.Pos
	learners bool     // it is in exercise.go
	uses     []string // all names in it, in order
}

func readSource(e exercises.Exercise) *source {
	s := &source{
		exercise: e, files: token.NewFileSet(),
		sentences: map[string]sentence{}, functions: map[string]*function{},
	}
	paths, _ := filepath.Glob(e.File("*.go")) // the pattern is valid
	for _, path := range paths {
		name := filepath.Base(path)
		file, err := parser.ParseFile(s.files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil || name == exercises.SolutionFile {
			continue
		}
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				s.addFunction(f, name)
			}
		}
		if name == exercises.ExerciseFile {
			s.addMarks(file)
		}
	}
	return s
}

func (s *source) addMarks(file *ast.File) {
	for _, group := range file.Comments {
		for _, comment := range group.List {
			if !strings.Contains(comment.Text, exercises.WorkMark) {
				continue
			}
			m := mark{at: comment.Pos()}
			for _, decl := range file.Decls {
				if f, ok := decl.(*ast.FuncDecl); ok && f.Pos() < m.at && m.at < f.End() {
					m.in = f.Name.Name
				}
			}
			s.marks = append(s.marks, m)
		}
	}
}

func (s *source) addFunction(decl *ast.FuncDecl, file string) {
	f := &function{at: decl.Pos(), learners: file == exercises.ExerciseFile}
	if known := s.functions[decl.Name.Name]; known == nil || f.learners {
		s.functions[decl.Name.Name] = f
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			on, isName := n.X.(*ast.Ident)
			return !isName || on.Name != "t" // t.Error isn't the learner's Error
		case *ast.Ident:
			f.uses = append(f.uses, n.Name)
		case *ast.BasicLit:
			text, _ := strconv.Unquote(n.Value) // "" unless it is a string
			_, known := s.sentences[TestName(text)]
			if text != "" && !known && strings.HasSuffix(file, "_test.go") {
				s.sentences[TestName(text)] = sentence{n.Pos(), text}
			}
		}
		return true
	})
}

// row returns the place of a test's row in a table, or "".
func (s *source) row(name string) string {
	_, subtest, _ := strings.Cut(name, "/")
	return s.place(s.lookUp(subtest).at)
}

// place formats a position as a path from the repository's root and a line.
func (s *source) place(at token.Pos) string {
	if at == token.NoPos {
		return ""
	}
	position := s.files.Position(at)
	return fmt.Sprintf("%s:%d", s.exercise.Path(filepath.Base(position.Filename)), position.Line)
}

// work returns the mark in the nearest of the learner's functions that the test calls, directly or
// not. Without one, it is the first mark outside functions, or else the nearest function.
func (s *source) work(name string) (at token.Pos, why string) {
	test, _, _ := strings.Cut(name, "/")
	reached := s.reachedFrom(test)
	for _, name := range reached {
		if i := slices.IndexFunc(s.marks, func(m mark) bool { return m.in == name }); i >= 0 {
			return s.marks[i].at, exercises.WorkMark + " in " + name
		}
	}
	if i := slices.IndexFunc(s.marks, func(m mark) bool { return m.in == "" || len(reached) == 0 }); i >= 0 {
		return s.marks[i].at, exercises.WorkMark
	}
	if len(reached) == 0 {
		return token.NoPos, ""
	}
	return s.functions[reached[0]].at, "the test calls " + reached[0]
}

// reachedFrom returns the learner's functions that caller calls, directly or not, the nearest
// first.
func (s *source) reachedFrom(caller string) []string {
	names := []string{caller}
	for i := 0; i < len(names); i++ {
		if f := s.functions[names[i]]; f != nil {
			for _, used := range f.uses {
				if !slices.Contains(names, used) {
					names = append(names, used)
				}
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return s.functions[name] == nil || !s.functions[name].learners
	})
}

// sort sorts tests in the order of the source, because a table that is a map has none.
func (s *source) sort(tests []Test) {
	at := func(t Test) (top, row token.Pos) {
		function, subtest, _ := strings.Cut(t.Name, "/")
		if f := s.functions[function]; f != nil {
			top = f.at
		}
		return top, s.lookUp(subtest).at
	}
	slices.SortStableFunc(tests, func(a, b Test) int {
		topA, rowA := at(a)
		topB, rowB := at(b)
		return cmp.Or(cmp.Compare(topA, topB), cmp.Compare(rowA, rowB))
	})
}
