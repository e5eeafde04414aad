// What the webhook needs before it can be served: a certificate that the API server trusts. Either somebody else puts it into
// --webhook-cert-path (cert-manager does, or a developer), or cert-controller makes it (--rotate-certs): it keeps the certificate and its
// authority in a Secret, which the kubelet brings to --webhook-cert-path, and writes the authority into the webhook configuration, so
// that the API server trusts it.

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

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

// webhookServerOptions says where to serve webhooks. The server doesn't run unless a webhook is registered.
func webhookServerOptions(o options) webhook.Options {
	return webhook.Options{
		Host:     o.webhookHost,
		Port:     o.webhookPort,
		CertDir:  o.webhookCert.path,
		CertName: o.webhookCert.name,
		KeyName:  o.webhookCert.key,
		TLSOpts:  []func(*tls.Config){withoutHTTP2},
	}
}

// registerWebhooks has mgr's webhook server answer at the webhooks' paths, and starts it.
func registerWebhooks(mgr ctrl.Manager) error {
	return webhookv1.SetupTDSetWebhookWithManager(mgr)
}

// addWebhooks has mgr register the webhooks as soon as they can be served. Until then this copy isn't ready, so the Service sends it no
// requests.
func addWebhooks(mgr ctrl.Manager, o options) error {
	certified := make(chan struct{})
	if o.rotateCerts {
		if err := addRotator(mgr, o, certified); err != nil {
			return fmt.Errorf("rotation of certificates: %w", err)
		}
	} else {
		close(certified)
	}
	var registered atomic.Bool
	isServing := func(request *http.Request) error {
		if !registered.Load() {
			return errors.New("no webhook is registered yet: the certificate is waited for")
		}
		return mgr.GetWebhookServer().StartedChecker()(request)
	}
	if err := mgr.AddReadyzCheck("webhooks", isServing); err != nil {
		return err
	}
	return mgr.Add(onEveryCopy(func(ctx context.Context) error {
		select {
		case <-certified:
		case <-ctx.Done():
			return nil
		}
		if err := registerWebhooks(mgr); err != nil {
			return err
		}
		registered.Store(true)
		return nil
	}))
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

// onEveryCopy is something that the manager runs whether this copy leads or not, and once its cache is filled.
type onEveryCopy func(context.Context) error

func (run onEveryCopy) Start(ctx context.Context) error { return run(ctx) }

func (onEveryCopy) NeedLeaderElection() bool { return false }
