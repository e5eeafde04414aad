// Command webhook serves two webhooks for Foos with controller-runtime alone, without kubebuilder's
// files. It is for your machine: the API server calls 127.0.0.1. Apply the CRD first:
//
//	kubectl apply -f 05-controller-runtime/manifests/crd.yaml
//	go run ./05-controller-runtime/webhook
//
// foo_webhook.go has the webhooks, and register.go tells the API server about them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

const host = "127.0.0.1"

func init() { utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme)) }

func main() {
	port := flag.Int("port", 9443, "port to serve the webhooks at")
	flag.Parse()
	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	if err := run(ctrl.SetupSignalHandler(), *port); err != nil {
		fmt.Fprintln(os.Stderr, "webhook:", err)
		os.Exit(1)
	}
}

// run serves the webhooks until ctx ends.
func run(ctx context.Context, port int) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	// 1. A certificate, because the API server calls webhooks by HTTPS only.
	certDir, err := os.MkdirTemp("", "webhook-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(certDir)
	ca, err := writeCertificate(certDir)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	// 2. A server with this certificate. The manager starts it if a webhook is registered.
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		WebhookServer: webhook.NewServer(webhook.Options{Host: host, Port: port, CertDir: certDir}),
		Metrics:       metricsserver.Options{BindAddress: "0"},
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	// 3. The webhooks, at paths that follow from the kind.
	if err := SetupFooWebhookWithManager(mgr); err != nil {
		return fmt.Errorf("webhooks: %w", err)
	}
	// 4. The configurations, without which the API server calls nobody.
	if err := mgr.Add(&registration{api: mgr.GetClient(), server: mgr.GetWebhookServer(), port: port, ca: ca}); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// writeCertificate writes tls.crt and tls.key to dir. It returns the CA that the API server has to
// trust. The certificate is self-signed, so it is its own CA.
func writeCertificate(dir string) (ca []byte, err error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600); err != nil {
		return nil, err
	}
	return certificate, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)
}
