// The certificate. With --local, this program makes it. In a cluster, cert-manager does.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	localhost   = "127.0.0.1"
	webhookPath = "/validate-apps-v1-deployment" // as controller-runtime makes it from the kind
)

// writeCertificate writes a certificate for host and its key to dir. It returns the PEM of the
// certificate and of the CA that signed it.
func writeCertificate(dir, host string) ([]byte, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	return certificate, errors.Join(err,
		os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
}

// serveLocally writes a certificate for this machine to o.certDir, and changes the webhook
// configuration: the API server calls this machine instead of a Service, and trusts the certificate.
// It leaves the configuration like this, so that you can see what happens while the program is down.
func serveLocally(ctx context.Context, config *rest.Config, o options) error {
	certificate, err := writeCertificate(o.certDir, localhost)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	installed := &admissionv1.ValidatingWebhookConfiguration{}
	if err := api.Get(ctx, client.ObjectKey{Name: configuration}, installed); err != nil {
		return fmt.Errorf("%w: apply manifests/webhook.yaml first", err)
	}
	url := "https://" + net.JoinHostPort(localhost, strconv.Itoa(o.port)) + webhookPath
	for i := range installed.Webhooks {
		installed.Webhooks[i].ClientConfig = admissionv1.WebhookClientConfig{URL: &url, CABundle: certificate}
	}
	if err := api.Update(ctx, installed); err != nil {
		return fmt.Errorf("webhook configuration: %w", err)
	}
	return nil
}
