// The webhooks need a certificate that the API server trusts. Either someone else puts it into
// --webhook-cert-path, such as cert-manager, or cert-controller creates it (--rotate-certs).
// cert-controller keeps the certificate and its CA in a Secret, which the kubelet mounts there, and
// writes the CA into the webhook configuration and the CRD, so that the API server trusts it.
//
// One of the webhooks converts TDSets. While some of them are stored in v1, the API server calls it
// for each list in v2, also for the one that fills this manager's cache. So neither the readiness
// nor the rotation of the certificate may wait for that cache: it would wait for them.

package main

import (
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"github.com/open-policy-agent/cert-controller/pkg/rotator"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	webhookv2 "example.com/operators/07-tdset-operator/internal/webhook/v2"
)

// webhookOptions are what the flags say about webhooks.
type webhookOptions struct {
	enabled      bool
	host         string
	port         int
	certDir      string
	rotate       bool
	podNamespace string // empty outside of a cluster
}

func (o *webhookOptions) addFlags() {
	o.podNamespace = os.Getenv("POD_NAMESPACE")
	flag.BoolVar(&o.enabled, "enable-webhooks", false, "serve the webhooks as well, whether this replica leads or not")
	flag.StringVar(&o.host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&o.port, "webhook-port", 9443, "port to serve webhooks at")
	flag.StringVar(&o.certDir, "webhook-cert-path", "", "folder of the webhook server's certificate, tls.crt and tls.key; needed for --enable-webhooks")
	flag.BoolVar(&o.rotate, "rotate-certs", false, "create and renew the webhooks' certificate, in the Secret that --webhook-cert-path is mounted from, in the namespace $POD_NAMESPACE")
}

// check returns an error if these options don't go together.
func (o *webhookOptions) check() error {
	switch {
	case o.enabled && o.certDir == "":
		return errors.New("--enable-webhooks: the API server calls webhooks by HTTPS only, so name the folder of a certificate with --webhook-cert-path")
	case o.enabled && !o.rotate:
		if _, err := o.loadCert(nil); err != nil {
			return fmt.Errorf("--webhook-cert-path, without --rotate-certs: %w", err)
		}
	case o.rotate && !o.enabled:
		return errors.New("--rotate-certs: the certificate is for the webhooks, so add --enable-webhooks")
	case o.rotate && o.podNamespace == "":
		return errors.New("--rotate-certs: POD_NAMESPACE isn't set; it names the namespace of the certificate's Secret and of the webhooks' Service")
	}
	return nil
}

// newServer returns the server of the webhooks. It runs only if a webhook is registered, and reads
// the certificate for each connection, because the file may appear only after the server has
// started.
func (o *webhookOptions) newServer() webhook.Server {
	return webhook.NewServer(webhook.Options{
		Host:    o.host,
		Port:    o.port,
		TLSOpts: []func(*tls.Config){withoutHTTP2, func(config *tls.Config) { config.GetCertificate = o.loadCert }},
	})
}

func (o *webhookOptions) loadCert(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(o.certDir, "tls.crt"), filepath.Join(o.certDir, "tls.key"))
	return &pair, err
}

// addTo makes mgr serve the webhooks. This replica is ready when the API server trusts its
// certificate, and the Service sends it no requests until then.
func (o *webhookOptions) addTo(mgr ctrl.Manager) error {
	trusted := make(chan struct{})
	if !o.rotate {
		close(trusted)
	} else if err := o.addRotator(mgr, trusted); err != nil {
		return fmt.Errorf("rotation of certificates: %w", err)
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
	return webhookv2.SetupTDSetWebhookWithManager(mgr)
}

// The names that config/default makes: its namePrefix, and then the name in config/webhook. A test
// compares them with what kustomize builds.
const (
	namePrefix     = "tdset-operator-"
	certSecret     = namePrefix + "webhook-server-cert"
	webhookService = namePrefix + "webhook-service"
	validating     = namePrefix + "validating-webhook-configuration"
	crd            = "tdsets.schedule.rs" // no prefix, because the API server requires this name
)

// addRotator makes mgr create certificates, and closes ready once the first one is trusted. Every
// replica does this, because each has to know when it is ready. The resourceVersion lets only one
// replica write the Secret, and the others use its certificate.
func (o *webhookOptions) addRotator(mgr ctrl.Manager, ready chan struct{}) error {
	rotating, err := ctrl.NewManager(mgr.GetConfig(), ctrl.Options{
		Scheme:                  mgr.GetScheme(),
		Metrics:                 metricsserver.Options{BindAddress: "0"}, // mgr serves them
		GracefulShutdownTimeout: new(shutdownTimeout),
	})
	if err != nil {
		return err
	}
	// mgr starts everything that has a cache, as a manager has, at the same time as its own cache,
	// and all the rest after that.
	if err := mgr.Add(rotating); err != nil {
		return err
	}
	return rotator.AddRotator(rotating, &rotator.CertRotator{
		SecretKey:      types.NamespacedName{Namespace: o.podNamespace, Name: certSecret},
		CertDir:        o.certDir,
		CAName:         namePrefix + "ca",
		CAOrganization: "tdset-operator",
		DNSName:        webhookService + "." + o.podNamespace + ".svc",
		IsReady:        ready,
		FieldOwner:     "tdset-operator-certs",
		Webhooks: []rotator.WebhookInfo{
			{Type: rotator.Validating, Name: validating},
			{Type: rotator.CRDConversion, Name: crd},
		},
	})
}
