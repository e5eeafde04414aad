// envtest: a real API server with its etcd and nothing else. No controller runs, so no garbage is collected, no Deployment makes
// Pods, and no Deployment becomes available unless the test says so. It is started once, by the first test that asks for it, and
// stopped by TestMain.

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
	// A server may have this plugin: creating an owner reference that blocks the owner's deletion then needs one more
	// permission.
	startedAPIServer.ControlPlane.GetAPIServer().Configure().Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
	_, err = startedAPIServer.Start()
	return startedAPIServer, err
})

// startedAPIServer is nil if no test has asked for it.
var startedAPIServer *envtest.Environment

// stopAPIServer stops it, if it was started, or half of it.
func stopAPIServer() error {
	if startedAPIServer == nil {
		return nil
	}
	return startedAPIServer.Stop()
}

// findAssets returns the folder that has the programs kube-apiserver and etcd.
func findAssets() (string, error) {
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = "../.workshop/bin"
	}
	for _, program := range []string{"kube-apiserver", "etcd"} {
		if _, err := os.Stat(filepath.Join(assets, program)); err != nil {
			return "", fmt.Errorf("envtest needs the programs kube-apiserver and etcd: %w. Run ./scripts/workshop up in the course's folder, "+
				"or name their folder in KUBEBUILDER_ASSETS. With -short, tests go without", err)
		}
	}
	return filepath.Abs(assets)
}

// newAPIServer returns how to reach a real API server, a client that reads from it, and a namespace of the test's own.
func newAPIServer(t *testing.T) (*rest.Config, client.Client, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("it needs a real API server, and this is a short run")
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

// closeConnections closes the connections of config's clients when the test has ended. They share them.
func closeConnections(t *testing.T, config *rest.Config) {
	t.Helper()
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
}
