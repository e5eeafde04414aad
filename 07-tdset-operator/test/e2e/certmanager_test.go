//go:build e2e

// cert-manager makes the webhook's certificate. The tests install it if the cluster has none.

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/operators/07-tdset-operator/test/utils"
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
	if err != nil {
		return err
	}
	if !strings.Contains(found, crd) { // the output may also have warnings
		cluster.atEnd(func() error { return do("kubectl", "delete", "--timeout=3m", "-f", certManager()) })
		if err := do("kubectl", "apply", "-f", certManager()); err != nil {
			return err
		}
	}
	// cert-manager has a webhook of its own. The API server may need a minute until it trusts that.
	const issuer = "{apiVersion: cert-manager.io/v1, kind: Issuer, metadata: {namespace: default, name: e2e}, spec: {selfSigned: {}}}"
	var refused error
	err = wait.PollUntilContextTimeout(context.Background(), time.Second, 5*time.Minute, true, func(context.Context) (bool, error) {
		_, refused = utils.RunWith(issuer, "kubectl", "create", "--dry-run=server", "-f", "-")
		return refused == nil, nil
	})
	if err != nil {
		return fmt.Errorf("cert-manager hasn't become ready: %w", refused)
	}
	return nil
}
