// Package utils has what the test suites share.
package utils

import (
	"fmt"
	"os"
	"path/filepath"
)

// EnvtestAssets returns the folder with kube-apiserver and etcd, which envtest starts. It is
// KUBEBUILDER_ASSETS, which `make test` sets.
func EnvtestAssets() (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return "", fmt.Errorf("envtest needs kube-apiserver and etcd, but one of them isn't in KUBEBUILDER_ASSETS=%q: "+
				"run make test, which sets it. -short skips these tests", assets)
		}
	}
	return assets, nil
}
