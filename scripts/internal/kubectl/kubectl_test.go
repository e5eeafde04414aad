package kubectl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeKubectl says what it was asked, and fails if asked to.
const fakeKubectl = `#!/bin/sh
echo "$KUBECONFIG: $*"
case "$*" in *fail*) echo "no such thing" >&2; exit 1;; esac
`

func TestRun(t *testing.T) {
	k := Kubectl{Binary: filepath.Join(t.TempDir(), "kubectl"), Kubeconfig: "/the/clusters"}
	if err := os.WriteFile(k.Binary, []byte(fakeKubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", "/the/users")

	output, err := k.Run(t.Context(), "get", "foos")
	if err != nil || output != "/the/clusters: get foos\n" {
		t.Errorf("said %q, error %v: it has to use the cluster's kubeconfig, and no other", output, err)
	}
	if _, err := k.Run(t.Context(), "fail"); err == nil || !strings.Contains(err.Error(), "kubectl fail: no such thing") {
		t.Errorf("the error is %v: it has to say what was run, and what that said", err)
	}
	if _, err := k.Run(t.Context()); err != nil {
		t.Error(err)
	}
	k.Binary = "/nowhere"
	if _, err := k.Run(t.Context(), "get"); err == nil || !strings.Contains(err.Error(), "/nowhere") {
		t.Errorf("the error is %v: it has to name the missing program", err)
	}
}
