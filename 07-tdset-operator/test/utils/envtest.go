// Package utils has what the test suites share.
package utils

import (
	"errors"
	"os"
	"path/filepath"
)

// EnvtestAssets returns the folder of kube-apiserver and etcd, which envtest starts: KUBEBUILDER_ASSETS, which `make test`
// sets, or the folder where the workshop has built them. root is this project's folder.
func EnvtestAssets(root string) (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(root, "..", ".workshop", "bin")
	}
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return "", errors.New("envtest needs the programs kube-apiserver and etcd, and one isn't in " + assets + ": run make test, which finds them, or name their folder in KUBEBUILDER_ASSETS. With -short, tests go without")
		}
	}
	return filepath.Abs(assets)
}
