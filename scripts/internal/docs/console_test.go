package docs

import (
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestConsoleBlocks(t *testing.T) {
	tests := map[string]struct {
		text []string
		want []block
	}{
		"commands with and without output": {
			text: []string{"'''console", "$ a", "x", "", "$ b", "", "$ c", " y", "'''"},
			want: []block{{line: 1, steps: []step{
				{line: 2, command: "a", output: []string{"x"}}, {line: 5, command: "b"},
				{line: 7, command: "c", output: []string{" y"}},
			}}},
		},
		"a backslash goes on in the next line": {
			text: []string{"'''console", `$ a \`, `    b \`, "> c", "> x", "y", "'''"},
			want: []block{{line: 1, steps: []step{{line: 2, command: "a \\\n    b \\\nc\nx", output: []string{"y"}}}}},
		},
		"a here-document has prompts": {
			text: []string{"'''console", "$ cat <<EOF", "> $ a", ">", ">   b", "> EOF", "out", "> out", "'''"},
			want: []block{{line: 1, steps: []step{
				{line: 2, command: "cat <<EOF\n$ a\n\n  b\nEOF", output: []string{"out", "> out"}},
			}}},
		},
		"the info string says how": {
			text: []string{"'''console terminal=two exit=3", "$ a", "'''", "'''console running", "$ b", "'''"},
			want: []block{
				{line: 1, terminal: "two", exit: 3, steps: []step{{line: 2, command: "a"}}},
				{line: 4, running: true, steps: []step{{line: 5, command: "b"}}},
			},
		},
		"^C, more output, and a command": {
			text: []string{"'''console", "^C", "bye", "$ a", "'''"},
			want: []block{{line: 1, interrupt: true, steps: []step{
				{line: 3, output: []string{"bye"}}, {line: 4, command: "a"},
			}}},
		},
		"other blocks are none": {
			text: []string{"'''sh", "$ a", "'''", "    $ a"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := consoleBlocks(readText(t, test.text...))
			wantProblems(t, err)
			diff := gocmp.Diff(test.want, got, gocmp.AllowUnexported(block{}, step{}), cmpopts.EquateEmpty())
			if diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAConsoleBlockWithAnUnknownWord(t *testing.T) {
	_, err := consoleBlocks(readText(t, "'''console run", "$ a", "'''"))
	wantProblems(t, err, "TEXT.md:1: console block: known are terminal=NAME, exit=N and running")
}

func readText(t *testing.T, lines ...string) *document {
	t.Helper()
	doc, err := readDocument(fstest.MapFS{"TEXT.md": {Data: []byte(markdownText(lines...))}}, "TEXT.md")
	if err != nil {
		t.Fatal(err)
	}
	return doc
}
