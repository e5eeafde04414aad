package checks

import (
	"path/filepath"
	"slices"
	"testing"

	"example.com/operators/scripts/internal/testkit"
)

func TestCapstones(t *testing.T) {
	for sentence, test := range map[string]struct{ changed, model string }{
		"all is well":                             {},
		"a file that differs from the chapter's":  {"03-workqueue/exercises/9-capstone/queue.go", "03-workqueue/queue.go"},
		"a file that differs from chapter 05's":   {"07-tdset-operator/exercises/9-website/waits.go", "05-controller-runtime/waits.go"},
		"an exercise that isn't a capstone":       {"03-workqueue/exercises/1-worker/queue.go", ""},
		"a file that no chapter has":              {"03-workqueue/exercises/9-capstone/solution.go", ""},
		"a file of the project, which isn't 05's": {"07-tdset-operator/exercises/9-website/types.go", ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			files := map[string]string{}
			for _, name := range []string{
				"03-workqueue/queue.go", "05-controller-runtime/waits.go", "07-tdset-operator/PROJECT", "07-tdset-operator/types.go",
				"03-workqueue/exercises/1-worker/queue.go",
				"03-workqueue/exercises/9-capstone/judge.yaml", "03-workqueue/exercises/9-capstone/queue.go",
				"03-workqueue/exercises/9-capstone/solution.go",
				"07-tdset-operator/exercises/9-website/judge.yaml", "07-tdset-operator/exercises/9-website/waits.go",
				"07-tdset-operator/exercises/9-website/types.go",
			} {
				files[name] = "package main\n"
			}
			if test.changed != "" {
				files[test.changed] = "package main // changed\n"
			}
			root := testkit.Write(t, t.TempDir(), files)
			var want []string
			if test.model != "" {
				want = []string{test.changed + ": should be the same as " + filepath.Join(root, test.model)}
			}
			got, err := run(t.Context(), root, capstones)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("problems %q, want %q; error %v", got, want, err)
			}
		})
	}
}
