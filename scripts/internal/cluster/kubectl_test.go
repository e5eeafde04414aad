package cluster

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeKubectl prints its arguments, and fails if they say so.
const fakeKubectl = `#!/bin/sh
echo "$KUBECONFIG: $*"
case "$*" in *fail*) echo "no such thing" >&2; exit 1;; esac
`

func TestKubectl(t *testing.T) {
	k := Kubectl{Binary: filepath.Join(t.TempDir(), "kubectl"), Kubeconfig: "/the/clusters"}
	if err := os.WriteFile(k.Binary, []byte(fakeKubectl), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", "/the/users")

	output, err := k.Run(t.Context(), "get", "foos")
	if err != nil || output != "/the/clusters: get foos\n" {
		t.Errorf("got output %q, error %v, want only the cluster's kubeconfig", output, err)
	}
	if _, err := k.Run(t.Context(), "fail"); err == nil || !strings.Contains(err.Error(), "kubectl fail: no such thing") {
		t.Errorf("got error %v, want the command and its message", err)
	}
}

func TestNothingGoesToTheUsersHome(t *testing.T) {
	k := Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: os.Getenv("TEST_KUBECONFIG")}
	if k.Binary == "" || k.Kubeconfig == "" {
		t.Skip("needs a cluster: run it by `./scripts/workshop test`, or set TEST_KUBECTL and TEST_KUBECONFIG")
	}
	home := t.TempDir()
	preferences := filepath.Join(home, "kuberc")
	if err := os.WriteFile(preferences, []byte("no preferences"), 0o600); err != nil { // kubectl would refuse them
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("KUBECACHEDIR", filepath.Join(home, "cache"))
	t.Setenv("KUBERC", preferences)
	if _, err := k.Run(t.Context(), "get", "nodes"); err != nil {
		t.Error(err)
	}
	if entries, err := os.ReadDir(home); err != nil || len(entries) != 1 {
		t.Errorf("got files %v, error %v, want only the user's kuberc", entries, err)
	}
}
