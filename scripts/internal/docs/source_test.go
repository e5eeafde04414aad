package docs

import (
	"os"
	"path/filepath"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
)

const goSource = `package watch

import "fmt"

// Client talks.
type Client struct{ name string } // one line

// Get gets.
func (c *Client) Get() string {
	return c.name
}

// List lists,
// generically.
func (l List[T]) All() []T { return l }

type List[T any] []T

func Get() { fmt.Println("not the method") }
`

func TestWriteUpdatesCode(t *testing.T) {
	tests := map[string]struct {
		text []string
		want []string // after Write; nil if there is nothing to fix
		left []string // problems that Write can't fix
	}{
		"a function is not the method of that name": {
			text: []string{"<!-- code: watch.go#Get -->", "'''go", "old", "'''", "after"},
			want: []string{"<!-- code: watch.go#Get -->", "'''go", `func Get() { fmt.Println("not the method") }`,
				"'''", "after"},
		},
		"a method is called Type.Method, and its doc comment comes along": {
			text: []string{"<!-- code: watch.go#Client.Get -->", "'''go", "'''"},
			want: []string{"<!-- code: watch.go#Client.Get -->", "'''go",
				"// Get gets.", "func (c *Client) Get() string {", "\treturn c.name", "}", "'''"},
		},
		"a whole file of another kind": {
			text: []string{"<!-- code: deploy/foo.yaml -->", "'''yaml", "kind: Bar", "'''"},
			want: []string{"<!-- code: deploy/foo.yaml -->", "'''yaml", "kind: Foo", "spec: {}", "'''"},
		},
		"several declarations are in the marker's order, with a blank line between": {
			text: []string{"<!-- code: watch.go#List.All,Client -->", "'''go", "'''"},
			want: []string{"<!-- code: watch.go#List.All,Client -->", "'''go",
				"// List lists,", "// generically.", "func (l List[T]) All() []T { return l }", "",
				"// Client talks.", "type Client struct{ name string } // one line", "'''"},
		},
		"a missing file": {
			text: []string{"text", "", "<!-- code: gone.go -->", "'''go", "'''"},
			left: []string{"01-x/TEXT.md:3: <!-- code: gone.go -->: there is no 01-x/gone.go"},
		},
		"a missing declaration": {
			text: []string{"<!-- code: watch.go#Client,Put -->", "'''go", "'''"},
			left: []string{`01-x/watch.go declares no "Put" at top level`},
		},
		"a marker without a block": {
			text: []string{"<!-- code: watch.go -->", "text", "", "'''go", "'''"},
			left: []string{"a marker is `<!-- code: PATH#Name,Type.Method -->`, directly before a block of code"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			root := repository(t, map[string]string{
				"01-x/TEXT.md":         markdownText(test.text...),
				"01-x/watch.go":        goSource,
				"01-x/deploy/foo.yaml": "kind: Foo\nspec: {}\n",
			})
			if test.want != nil {
				wantProblems(t, CheckText(root, "01-x/TEXT.md"), "`workshop docs --write` updates")
			}
			changed, err := Write(root, "01-x/TEXT.md")
			wantProblems(t, err, test.left...)
			if changed != (test.want != nil) {
				t.Errorf("changed: %v", changed)
			}
			want := test.want
			if want == nil {
				want = test.text
			}
			got, err := os.ReadFile(filepath.Join(root, "01-x", "TEXT.md"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := gocmp.Diff(markdownText(want...), string(got)); diff != "" {
				t.Error(diff)
			}
			wantProblems(t, CheckText(root, "01-x/TEXT.md"), test.left...)
		})
	}
}

func TestAChaptersREADMEHasNoUnmarkedGo(t *testing.T) {
	root := repository(t, map[string]string{"01-x/README.md": markdownText("'''go", "x := 1", "'''", chapter())})
	wantProblems(t, CheckText(root, "01-x/README.md"), "01-x/README.md:1: code in a README is extracted from the source")
}
