package gobuild

import (
	"io"
	"path/filepath"
	"slices"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestWatcher(t *testing.T) {
	tests := map[string]struct {
		output   []string // not always whole lines
		want     string
		messages []string
	}{
		"counts modules until the first package": {
			[]string{"go: downloading k8s.io/api v0.36.3\n", "go: downloading sigs.k8s.io/yaml v1.6.0\n"},
			"2 modules fetched", nil,
		},
		"joins the pieces of a line": {
			[]string{"inter", "nal/abi\nre", "flect\nhal"},
			"package 2", nil,
		},
		"keeps messages": {
			[]string{"fmt\n# k8s.io/api\nx.go:1:2: undefined: y\n"},
			"package 1", []string{"# k8s.io/api", "x.go:1:2: undefined: y"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got string
			w := newWatcher(func(p Progress) { got = p.String() })
			for _, piece := range test.output {
				if _, err := io.WriteString(w, piece); err != nil {
					t.Fatal(err)
				}
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !slices.Equal(w.messages, test.messages) {
				t.Errorf("messages: %q, want %q", w.messages, test.messages)
			}
		})
	}
}

func TestWhatIsCompiledIsNotCounted(t *testing.T) {
	dir := testkit.Write(t, t.TempDir(), map[string]string{
		"go.mod":         "module example.com/program\n\ngo 1.26\n",
		"main.go":        "package main\n\nimport \"example.com/program/page\"\n\nfunc main() { print(page.Text) }\n",
		"page/page.go":   "package page\n\nimport _ \"embed\"\n\n//go:embed page.html\nvar Text string\n",
		"page/page.html": t.Name(),
	})
	build := Build{What: "a program", Dir: dir, Args: []string{"-o", filepath.Join(dir, "program"), "."}}
	for _, want := range []int{2, 1} { // go list doesn't know that main is linked
		if stale, err := build.Stale(t.Context()); err != nil || len(stale) != want {
			t.Errorf("%q are to be compiled, error %v, want %d", stale, err, want)
		}
		if err := build.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

func TestProgressInWords(t *testing.T) {
	for want, p := range map[string]Progress{
		"300 modules fetched":    {Modules: 300},
		"package 1,927":          {Packages: 1927, Modules: 300},
		"package 1,927 of 2,712": {Packages: 1927, Of: 2712},
		"linking":                {Packages: 2712, Of: 2712},
	} {
		if got := p.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
