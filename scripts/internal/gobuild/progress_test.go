package gobuild

import (
	"io"
	"slices"
	"testing"
)

func TestWatcher(t *testing.T) {
	tests := map[string]struct {
		output   []string // not always whole lines
		want     string
		messages []string
	}{
		"counts packages": {
			[]string{"internal/abi\nk8s.io/api/core/v1\n"},
			"2 packages compiled", nil,
		},
		"counts modules until the first package": {
			[]string{"go: downloading k8s.io/api v0.36.3\n", "go: downloading sigs.k8s.io/yaml v1.6.0\n"},
			"2 modules fetched", nil,
		},
		"joins the pieces of a line": {
			[]string{"inter", "nal/abi\nre", "flect\nhal"},
			"2 packages compiled", nil,
		},
		"keeps messages": {
			[]string{"fmt\n# k8s.io/api\nx.go:1:2: undefined: y\n"},
			"1 packages compiled", []string{"# k8s.io/api", "x.go:1:2: undefined: y"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got string
			w := NewWatcher(func(p Progress) { got = p.String() })
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
