package suite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/scripts/internal/kubectl"
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
