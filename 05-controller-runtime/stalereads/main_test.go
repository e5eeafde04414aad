package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// The option keeps its word on a real API server, with a cache that is a second behind. Chapter 03
// tests the files that it has too.
func TestReadYourWrites(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	ctrl.SetLogger(logr.Discard())
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "../../.workshop/bin"
	}
	if _, err := os.Stat(filepath.Join(assets, "kube-apiserver")); err != nil {
		t.Fatalf("envtest needs kube-apiserver and etcd: %v. Run ./scripts/workshop up, or set KUBEBUILDER_ASSETS", err)
	}
	server := &envtest.Environment{
		CRDDirectoryPaths:     []string{"../manifests/crd.yaml"},
		ErrorIfCRDPathMissing: true,
		BinaryAssetsDirectory: assets,
	}
	config, err := server.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	for _, readYourWrites := range []bool{false, true} {
		t.Run(fmt.Sprintf("reads wait for your own writes: %t", readYourWrites), func(t *testing.T) {
			e := &experiment{behind: time.Second, foos: 2}
			got, err := e.run(t.Context(), config, start(readYourWrites, 4))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v", got)
			if (got.surplus > 0) == readYourWrites || got.surplus < 0 {
				t.Errorf("%d Pods too many, want some: %t", got.surplus, !readYourWrites)
			}
			if (got.refused > 0) == readYourWrites {
				t.Errorf("%d writes were refused, want some: %t", got.refused, !readYourWrites)
			}
			if got.reads > 0 {
				t.Errorf("%d requests that read, want none", got.reads)
			}
		})
	}
}
