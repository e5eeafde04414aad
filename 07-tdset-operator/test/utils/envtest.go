// Package utils has what the test suites share.
package utils

import (
	"errors"
	"os"
	"path/filepath"
)

// EnvtestAssets returns the folder with kube-apiserver and etcd, which envtest starts. It is
// KUBEBUILDER_ASSETS, which `make test` sets, or the folder where the workshop has built them. root
// is the project's folder.
func EnvtestAssets(root string) (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "..", ".workshop", "bin")
	}
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return "", errors.New("envtest needs kube-apiserver and etcd, but one of them isn't in " + assets + ": run make test, which finds them, or set KUBEBUILDER_ASSETS to their folder. -short skips these tests")
		}
	}
	return filepath.Abs(assets)
}
