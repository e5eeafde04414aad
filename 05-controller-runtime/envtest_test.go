// envtest is a real API server with etcd and nothing else. No controller runs, so nothing deletes
// orphans or creates Pods, and no Deployment becomes available unless the test makes it so. The
// first test that needs envtest starts it, and TestMain stops it.

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

var startAPIServer = sync.OnceValues(func() (*envtest.Environment, error) {
	assets, err := findAssets()
	if err != nil {
		return nil, err
	}
	startedAPIServer = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{"manifests/crd.yaml"},
		ErrorIfCRDPathMissing: true,
	}
	// Some servers have this plugin. With it, an owner reference with blockOwnerDeletion needs one
	// more permission.
	startedAPIServer.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	_, err = startedAPIServer.Start()
	return startedAPIServer, err
})

// startedAPIServer is nil if no test has needed it.
var startedAPIServer *envtest.Environment

// stopAPIServer stops the API server, even if only a part of it has started.
func stopAPIServer() error {
	if startedAPIServer == nil {
		return nil
	}
	return startedAPIServer.Stop()
}

// findAssets returns the folder with the programs kube-apiserver and etcd.
func findAssets() (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "../.workshop/bin"
	}
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return "", fmt.Errorf("envtest needs the programs kube-apiserver and etcd: %w. Run ./scripts/workshop up in the course's folder, "+
				"or set KUBEBUILDER_ASSETS to their folder. With -short, these tests are skipped", err)
		}
	}
	return filepath.Abs(assets)
}

// newAPIServer returns the config of a real API server, a client that reads from it, and a
// namespace of the test's own.
func newAPIServer(t *testing.T) (*rest.Config, client.Client, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a real API server, and this is a short run")
	}
	environment, err := startAPIServer()
	must(t, err)
	config := rest.CopyConfig(environment.Config)
	config.QPS = -1
	closeConnections(t, config)
	api, err := client.New(config, client.Options{})
	must(t, err)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	return config, api, namespace.Name
}

// closeConnections closes the connections of config's clients, which share them, when the test
// ends.
func closeConnections(t *testing.T, config *rest.Config) {
	t.Helper()
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
}
