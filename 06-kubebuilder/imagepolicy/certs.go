// The certificate. In a cluster, cert-controller makes it, as for the webhooks of chapter 06. On your
// machine, this program does.

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

const (
	localhost   = "127.0.0.1"
	webhookPath = "/validate-apps-v1-deployment" // as controller-runtime makes it from the kind
)

// newServer returns the webhook server. It reads the certificate for each connection, because in a
// cluster the file may appear only after the server has started. HTTP/1.1 is enough for the API
// server, and in HTTP/2, any client can keep a server busy by opening and resetting streams.
func newServer(o options) webhook.Server {
	host := ""
	if o.local {
		host = localhost
	}
	return webhook.NewServer(webhook.Options{
		Host: host,
		Port: o.port,
		TLSOpts: []func(*tls.Config){func(config *tls.Config) {
			config.NextProtos = []string{"http/1.1"}
			config.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
				pair, err := tls.LoadX509KeyPair(filepath.Join(o.certDir, "tls.crt"), filepath.Join(o.certDir, "tls.key"))
				return &pair, err
			}
		}},
	})
}

// addRotator makes mgr create and renew the certificate, in the Secret that is mounted at o.certDir.
// It closes trusted once the API server trusts the certificate.
func addRotator(mgr ctrl.Manager, o options, trusted chan struct{}) error {
	return rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: namespace, Name: certSecret},
		CertDir:        o.certDir,
		CAName:         "image-policy-ca",
		CAOrganization: "image-policy",
		DNSName:        service + "." + namespace + ".svc",
		IsReady:        trusted,
		FieldOwner:     "image-policy-certs",
		Webhooks:       []rotator.WebhookInfo{{Type: rotator.Validating, Name: configuration}},
	})
}

// serveLocally writes a certificate for this machine to o.certDir, and changes the webhook
// configuration: the API server calls this machine instead of a Service, and trusts the certificate.
// It leaves the configuration like this, so that you can see what happens while the program is down.
func serveLocally(ctx context.Context, config *rest.Config, o options) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey(localhost, nil, nil)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(o.certDir, name), content, 0o600); err != nil {
			return fmt.Errorf("certificate: %w", err)
		}
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
