// Package museum is the index of the bug museum: which bugs of well-known examples the course shows, where, by which tests, and where they
// are from.
//
// This file says what an exhibit is, and writes the index for readers. Which exhibits there are stands in exhibits.go; check.go tells
// whether the repository has what they name.
package museum

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"example.com/operators/scripts/internal/docs"
)

// Origin is an example, or a habit, that has the bugs.
type Origin struct {
	Name     string
	Exhibits []Exhibit
}

// Exhibit is one bug.
type Exhibit struct {
	// Bug is what goes wrong, in one sentence, without its full stop.
	Bug string
	// Shown are the texts that show it. The first one's chapter is the exhibit's.
	Shown []Section
	// Fails are the tests that show the bug: each does it the wrong way, and says what comes of that.
	Fails []Test
	// Mended are the tests that show that the course's programs, or an exercise's solution, don't have it.
	Mended []Test
	// Upstream is where it can be seen: the code that has it or, for what is from everywhere, the code or text that has to do with it.
	Upstream []Place
}

// Section is a part of a text.
type Section struct {
	// File is the text's path from the repository's root, with slashes.
	File string
	// Heading is the section's, without markup; "": the whole text.
	Heading string
	// Words are some in it that name the bug, without markup.
	Words string
}

// Test is a test in the repository.
type Test struct {
	// File is its path from the repository's root, with slashes.
	File string
	// Name is the function's and, after a slash each, those of its subtests, as they stand in File. What depends on the chapter that is
	// judged isn't in it.
	Name string
}

// Place is a place in somebody else's repository.
type Place struct {
	// URL is the address of a file as it is at a commit, or at a tag.
	URL string
	// Name is the function's or the type's in it, or another name by which it can be found; "": the whole file.
	Name string
}

const (
	exercises  = "/exercises/"
	acceptance = "scripts/acceptance/"
	// longestCommand is how much of a table's cell a command may take.
	longestCommand = 90
)

// Write is the index as Markdown. Its links are relative to the folder scripts.
func Write(origins []Origin) string {
	var text strings.Builder
	text.WriteString(`# The bug museum

Bugs of well-known examples, and of operators everywhere: each is shown, tested and mended. A test in the third column does it the wrong way
and says what comes of it (an exercise's fails as given); one in the fourth shows that it needn't be.

One test of a chapter: ` + "`go test -C CHAPTER -v -run 'NAME' ./FOLDER`" + `; it may need the API server that ` + "`./scripts/workshop up`" + ` has built.
`)
	for _, origin := range origins {
		fmt.Fprintf(&text, "\n## %s\n\n", origin.Name)
		text.WriteString("| the bug | shown in | the test that shows the bug | the test that shows the mend | upstream |\n")
		text.WriteString("| --- | --- | --- | --- | --- |\n")
		for _, e := range origin.Exhibits {
			cells := []string{
				e.Bug,
				cell(e.Shown, Section.link),
				cell(e.Fails, func(test Test) string { return test.cell(test.fails()) }),
				cell(e.Mended, func(test Test) string { return test.cell(test.passes(e.chapter())) }),
				cell(e.Upstream, Place.link),
			}
			fmt.Fprintf(&text, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	return text.String()
}

// cell is what a table has of several things.
func cell[T any](all []T, write func(T) string) string {
	var parts []string
	for _, one := range all {
		parts = append(parts, write(one))
	}
	return strings.Join(parts, "<br>")
}

// chapter is the number of the chapter that shows it.
func (e Exhibit) chapter() string {
	number, _, _ := strings.Cut(e.Shown[0].File, "-")
	return number
}

// link leads to the section: "03: A limit on all keys together".
func (s Section) link() string {
	number, _, _ := strings.Cut(s.File, "-")
	if folder, exercise := exerciseOf(s.File); exercise {
		return fmt.Sprintf("[exercise %s/%s](../%s)", number, folder, s.File)
	}
	return fmt.Sprintf("[%s: %s](../%s#%s)", number, s.Heading, s.File, docs.Anchor(s.Heading))
}

// exerciseOf is the folder, such as 1-resume, of the exercise that file belongs to.
func exerciseOf(file string) (folder string, is bool) {
	_, inside, is := strings.Cut(file, exercises)
	return path.Dir(inside), is
}

// link leads to the place.
func (p Place) link() string {
	name := p.URL[strings.LastIndex(p.URL, "/")+1:]
	if p.Name != "" {
		name += ", " + p.Name
	}
	return fmt.Sprintf("[%s](%s)", name, p.URL)
}

// cell is a link to the test, and the command.
func (t Test) cell(command string) string {
	link := fmt.Sprintf("[%s](../%s)", t.Name, t.File)
	if command == "" || len(command) > longestCommand {
		return link
	}
	return link + " `" + command + "`"
}

// fails is the command that shows the bug.
func (t Test) fails() string {
	if folder, exercise := exerciseOf(t.File); exercise {
		exerciseNumber, _, _ := strings.Cut(folder, "-")
		return fmt.Sprintf("./scripts/workshop check %s/%s", t.File[:2], exerciseNumber)
	}
	return t.command()
}

// passes is the command that shows the mend, in that chapter if the test is for several.
func (t Test) passes(chapter string) string {
	folder, exercise := exerciseOf(t.File)
	switch {
	case exercise:
		module, _, _ := strings.Cut(t.File, "/")
		return fmt.Sprintf("go test -C %s -tags solution .%s%s", module, exercises, folder)
	case strings.HasPrefix(t.File, acceptance):
		return fmt.Sprintf("./scripts/workshop test %s --only %s", chapter, t.promise())
	}
	return t.command()
}

// command runs a test of a chapter; "" if its name has blanks, which makes that too long to read.
func (t Test) command() string {
	if strings.Contains(t.Name, " ") {
		return ""
	}
	module, file, _ := strings.Cut(t.File, "/")
	folder := "."
	if path.Dir(file) != "." {
		folder = "./" + path.Dir(file)
	}
	return fmt.Sprintf("go test -C %s -run %s %s", module, t.Name, folder)
}

var promiseName = regexp.MustCompile(`^[BT][0-9]+`)

// promise is what a test of the behaviour contract is called by, such as B4.
func (t Test) promise() string {
	_, subtest, _ := strings.Cut(t.Name, "/")
	return promiseName.FindString(subtest)
}
