package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestChanges(t *testing.T) {
	type object = map[string]any
	for sentence, test := range map[string]struct {
		before, after object
		want          []string
	}{
		"the same": {
			before: object{"spec": object{"replicas": int64(1), "list": []any{"a"}}},
			after:  object{"spec": object{"replicas": int64(1), "list": []any{"a"}}},
		},
		"a new value, deep inside": {
			before: object{"spec": object{"replicas": int64(1)}},
			after:  object{"spec": object{"replicas": int64(3)}},
			want:   []string{"spec.replicas: 1 → 3"},
		},
		"a field is set, and another is removed": {
			before: object{"status": object{"unavailable": int64(1)}},
			after:  object{"status": object{"available": int64(1)}},
			want:   []string{"status.available: (none) → 1", "status.unavailable: 1 → (none)"},
		},
		"the first label": {
			before: object{"metadata": object{}},
			after:  object{"metadata": object{"labels": object{"team": "blue"}}},
			want:   []string{`metadata.labels.team: (none) → "blue"`},
		},
		"a list is compared as a whole": {
			before: object{"args": []any{"a", "b"}},
			after:  object{"args": []any{"a"}},
			want:   []string{`args: ["a","b"] → ["a"]`},
		},
		"a map replaces a string": {
			before: object{"port": "http"},
			after:  object{"port": object{"name": "http"}},
			want:   []string{`port: "http" → {"name":"http"}`},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			if diff := cmp.Diff(test.want, changes(test.before, test.after), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
