// What the webhook needs before it can be served: a certificate that the API server trusts. Either somebody else puts it into
// --webhook-cert-path (cert-manager does, or a developer), or cert-controller makes it (--rotate-certs): it keeps the certificate and its
// authority in a Secret, which the kubelet brings to --webhook-cert-path, and writes the authority into the webhook configuration, so
// that the API server trusts it.

package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	webhookv1 "example.com/operators/07-tdset-operator/internal/webhook/v1"
)

// The names of what the rotation works on, as config/default makes them: its namePrefix, and then the name in config/webhook. A test
// compares them with dist/install.yaml.
const (
	namePrefix     = "tdset-operator-"
	certSecret     = namePrefix + "webhook-server-cert"
	webhookService = namePrefix + "webhook-service"
	validating     = namePrefix + "validating-webhook-configuration"
)

// newWebhookServer returns the server of the webhooks. It runs only if a webhook is registered, and
// reads its certificate for each connection, because the first one may come while it runs.
func newWebhookServer(o options) webhook.Server {
	load := func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		pair, err := o.webhookCert.load()
		return &pair, err
	}
	return webhook.NewServer(webhook.Options{
		Host:    o.webhookHost,
		Port:    o.webhookPort,
		TLSOpts: []func(*tls.Config){withoutHTTP2, func(config *tls.Config) { config.GetCertificate = load }},
	})
}

// addWebhooks has mgr serve the webhooks. This replica isn't ready before the API server trusts its
// certificate, so the Service sends it no requests until then.
func addWebhooks(mgr ctrl.Manager, o options) error {
	trusted := make(chan struct{})
	if o.rotateCerts {
		if err := addRotator(mgr, o, trusted); err != nil {
			return fmt.Errorf("rotation of certificates: %w", err)
		}
	} else {
		close(trusted)
	}
	isServing := func(request *http.Request) error {
		select {
		case <-trusted:
			return mgr.GetWebhookServer().StartedChecker()(request)
		default:
			return errors.New("waiting for the webhooks' certificate")
		}
	}
	if err := mgr.AddReadyzCheck("webhooks", isServing); err != nil {
		return err
	}
	return webhookv1.SetupTDSetWebhookWithManager(mgr)
}

// addRotator has mgr make certificates, and close ready once the first is in its files and trusted. Every copy does this, not only the
// leader, since every copy has to know when it is ready. Only one of them gets its certificate into the Secret, by the
// resourceVersion; the others take that.
func addRotator(mgr ctrl.Manager, o options, ready chan struct{}) error {
	return rotator.AddRotator(mgr, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: o.podNamespace, Name: certSecret},
		CertDir:        o.webhookCert.path,
		CertName:       o.webhookCert.name,
		KeyName:        o.webhookCert.key,
		CAName:         namePrefix + "ca",
		CAOrganization: "tdset-operator",
		DNSName:        webhookService + "." + o.podNamespace + ".svc",
		IsReady:        ready,
		FieldOwner:     "tdset-operator-certs",
		Webhooks:       []rotator.WebhookInfo{{Type: rotator.Validating, Name: validating}},
	})
}
