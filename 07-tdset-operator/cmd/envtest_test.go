// envtest: a real API server with its etcd and nothing else. The first test that needs it starts
// it, and TestMain stops it. It has the CRD. One test installs the rest of what `make deploy`
// applies.

package main

import (
	"errors"
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

	"example.com/operators/07-tdset-operator/test/utils"
)

// testEnv is nil until a test needs it. Its audit log has every request.
var (
	testEnv     *envtest.Environment
	auditFolder string
)

var startTestEnv = sync.OnceValue(func() error {
	assets, err := utils.EnvtestAssets("..")
	if err != nil {
		return err
	}
	if auditFolder, err = os.MkdirTemp("", "audit-"); err != nil {
		return err
	}
	policy := filepath.Join(auditFolder, "policy.yaml")
	if err := os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n"), 0o600); err != nil {
		return err
	}
	testEnv = &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{filepath.Join("..", "config", "crd", "bases")},
		ErrorIfCRDPathMissing: true,
	}
	testEnv.ControlPlane.GetAPIServer().Configure().
		// Some servers have this plugin. Then it takes one more permission to create an owner
		// reference that blocks the owner's deletion.
		Append("enable-admission-plugins", "OwnerReferencesPermissionEnforcement").
		Append("audit-policy-file", policy).
		Append("audit-log-path", auditLog())
	_, err = testEnv.Start()
	return err
})

func auditLog() string { return filepath.Join(auditFolder, "audit.log") }

// stopTestEnv stops envtest, even if it was only partly started.
func stopTestEnv() error {
	if testEnv == nil {
		return nil
	}
	return errors.Join(testEnv.Stop(), os.RemoveAll(auditFolder))
}

// newAPIServer returns the API server's config, a client, and a new namespace for the test.
func newAPIServer(t *testing.T) (*rest.Config, client.Client, string) {
	t.Helper()
	if testing.Short() {
		t.Skip("this needs a real API server, and -short is set")
	}
	must(t, startTestEnv())
	config := rest.CopyConfig(testEnv.Config)
	config.QPS = -1
	transport, err := rest.TransportFor(config)
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	api, err := client.New(config, client.Options{Scheme: scheme})
	must(t, err)
	return config, api, newNamespace(t, api)
}

func newNamespace(t *testing.T, api client.Client) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	must(t, api.Create(t.Context(), namespace))
	return namespace.Name
}
