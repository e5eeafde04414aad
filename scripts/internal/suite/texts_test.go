package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/gotest"
	"example.com/operators/scripts/internal/kubectl"
	"example.com/operators/scripts/internal/output"
	"example.com/operators/scripts/internal/ui"
)

// kubectlThatSays answers each question with the next line of a file. A line "fails" is an error.
const kubectlThatSays = `#!/bin/sh
n=$(($(cat "$0.asked") + 1))
echo "$n" > "$0.asked"
line=$(sed -n "${n}p" "$0.says")
test "$line" != fails || exit 1
echo "$line"
`

func TestATextLeavesNothing(t *testing.T) {
	const fresh = "service/kubernetes configmap/kube-root-ca.crt"
	for sentence, test := range map[string]struct {
		says []string // of the kinds, and of the namespace, in turn
		want string   // in the error
	}{
		"nothing is left":            {[]string{"", fresh}, ""},
		"it goes after a while":      {[]string{"crd/foos", fresh + " pod/web", "", fresh + " pod/web", "", fresh}, ""},
		"a kind is left":             {[]string{"crd/foos", fresh, "crd/foos", fresh, "crd/foos", fresh}, "must delete what it created, but left: crd/foos"},
		"a Pod doesn't go":           {[]string{"", "pod/web " + fresh, "", "pod/web " + fresh, "", "pod/web " + fresh}, "must delete what it created, but left: pod/web"},
		"the cluster doesn't answer": {[]string{"fails"}, "kubectl get customresourcedefinitions"},
	} {
		t.Run(sentence, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "kubectl")
			write(t, binary, kubectlThatSays)
			write(t, binary+".asked", "0")
			write(t, binary+".says", strings.Join(test.says, "\n")+"\n")
			if err := os.Chmod(binary, 0o700); err != nil {
				t.Fatal(err)
			}
			err := leavesNothing(t.Context(), kubectl.Kubectl{Binary: binary}, wait.Backoff{Duration: time.Millisecond, Steps: 3})
			if !says(err, test.want) {
				t.Errorf("got error %v, want %q", err, test.want)
			}
		})
	}
}

func TestLeavesNothingIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := leavesNothing(ctx, kubectl.Kubectl{Binary: "true"}, eachSecond); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// A text that fails runs again, and counts as passed only if it passes then.
func TestFailedTextsRunAgain(t *testing.T) {
	for sentence, test := range map[string]struct {
		failures map[string]int // how often each text fails
		want     gotest.Counts
		ran      []string
		says     string
		// noCluster: there is none for the second time.
		noCluster bool
	}{
		"all pass":                                {nil, gotest.Counts{}, []string{"a.md b.md"}, "", false},
		"one passes the second time":              {map[string]int{"b.md": 1}, gotest.Counts{}, []string{"a.md b.md", "b.md"}, "! passed only the second time:\nb.md", false},
		"one has a mistake":                       {map[string]int{"a.md": 2}, gotest.Counts{Failed: 1}, []string{"a.md b.md", "a.md"}, "", false},
		"there is no cluster for the second time": {map[string]int{"b.md": 1}, gotest.Counts{Failed: 1}, []string{"a.md b.md", "b.md"}, "", true},
		"one has a mistake, and one doesn't":      {map[string]int{"a.md": 1, "b.md": 2}, gotest.Counts{Failed: 1}, []string{"a.md b.md", "a.md b.md"}, "! passed only the second time:\na.md", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			var out output.Buffer
			s := &Suite{UI: ui.New(os.Stderr).Beside(&out, func(string) {})}
			var ran []string
			s.twice(t.Context(), []string{"a.md", "b.md"}, func(files []string) (failed []string) {
				ran = append(ran, strings.Join(files, " "))
				for _, file := range files {
					if test.failures[file] > len(ran)-1 {
						failed = append(failed, file)
						s.counts.Failed++
					}
				}
				if len(ran) == 2 && test.noCluster {
					s.counts.Failed++
					return nil
				}
				return failed
			})
			if s.counts != test.want || !slices.Equal(ran, test.ran) {
				t.Errorf("got counts %+v of the runs %q, want %+v and %q", s.counts, ran, test.want, test.ran)
			}
			if got := out.String(); !strings.Contains(got, test.says) || test.says == "" && strings.Contains(got, "!") {
				t.Errorf("it says %q, want %q", got, test.says)
			}
		})
	}
}
