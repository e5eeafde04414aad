//go:build e2e

// cert-manager makes the webhook's certificate. The tests install it if the cluster has none.

package e2e

import (
	"cmp"
	"errors"
	"os"
	"strings"

	"example.com/operators/06-kubebuilder/test/utils"
)

// certManager returns the file or URL of cert-manager's manifests.
func certManager() string {
	return cmp.Or(os.Getenv("CERT_MANAGER"), "https://github.com/cert-manager/cert-manager/releases/download/v1.21.1/cert-manager.yaml")
}

// installCertManager installs cert-manager if the cluster has none. Then the tests delete it at the
// end.
func installCertManager(cluster *kindCluster) error {
	const crd = "certificates.cert-manager.io"
	found, err := utils.Exec("kubectl", "get", "crd", crd, "--ignore-not-found", "-o", "name")
	if err != nil || strings.Contains(found, crd) { // the output may also have warnings
		return err
	}
	cluster.atEnd(func() error { return do("kubectl", "delete", "--timeout=3m", "-f", certManager()) })
	return errors.Join(
		do("kubectl", "apply", "-f", certManager()),
		do("kubectl", "wait", "-n", "cert-manager", "deployment", "--all", "--for=condition=Available", "--timeout=5m"),
		// cert-manager has a webhook, too, and the API server has to trust it.
		do("kubectl", "wait", "validatingwebhookconfiguration/cert-manager-webhook", "--for=jsonpath={.webhooks[0].clientConfig.caBundle}", "--timeout=5m"),
	)
}
