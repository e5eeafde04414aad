package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/testkit"
)

// What run has created, it deletes. What was there before is the learner's.
func TestOnlyCreatedExamplesAreDeleted(t *testing.T) {
	const removal = "delete --ignore-not-found --timeout=3s -f foo.yaml"
	for sentence, test := range map[string]struct {
		applied string // kubectl's output
		deletes string // its exit status
		want    []string
	}{
		"a new one":                      {"foo.example.com/a created", "0", []string{removal}},
		"one that was there":             {"foo.example.com/a unchanged", "0", nil},
		"one that has been changed":      {"foo.example.com/a configured", "0", nil},
		"a namespace, which may be used": {"namespace/a created", "0", nil},
		"one that keeps its finalizer": {"foo.example.com/a created", "1", []string{
			removal, `patch --type=merge --patch={"metadata":{"finalizers":null}} -f foo.yaml`,
		}},
	} {
		t.Run(sentence, func(t *testing.T) {
			binary := filepath.Join(testkit.Write(t, t.TempDir(), map[string]string{
				"kubectl": "#!/bin/sh\necho \"$*\" >> \"$0.asked\"\ncase $1 in apply) echo " + test.applied +
					";; delete) exit " + test.deletes + ";; esac\n",
			}), "kubectl")
			if err := os.Chmod(binary, 0o700); err != nil {
				t.Fatal(err)
			}
			r := &prepared{kubectl: cluster.Kubectl{Binary: binary}}
			if err := r.applyExamples(t.Context(), []string{"foo.yaml"}); err != nil {
				t.Fatal(err)
			}
			r.cleanUp(t.Context())
			asked, err := os.ReadFile(binary + ".asked")
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Split(strings.TrimSpace(string(asked)), "\n")[1:] // after the apply
			if !slices.Equal(got, test.want) {
				t.Errorf("kubectl was called with %q, want %q", got, test.want)
			}
		})
	}
}
