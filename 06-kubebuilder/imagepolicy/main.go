// Command imagepolicy serves a webhook that refuses Deployments with images from other registries
// than those in a ConfigMap. manifests/policy.yaml is the same rule without a program.
//
//	kubectl apply -f 06-kubebuilder/imagepolicy/manifests/config.yaml -f 06-kubebuilder/imagepolicy/manifests/webhook.yaml
//	go run ./06-kubebuilder/imagepolicy --local
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

// The names in manifests. A test compares them.
const (
	namespace     = "image-policy-system"
	configuration = "image-policy" // the ValidatingWebhookConfiguration
)

// policyKey is the ConfigMap with the allowed registries.
var policyKey = client.ObjectKey{Namespace: namespace, Name: "image-policy"}

func main() {
	var o options
	flag.BoolVar(&o.local, "local", false, "serve on 127.0.0.1 with a new certificate, and make the API server call this address")
	flag.StringVar(&o.certDir, "cert-path", "/tmp/k8s-webhook-server/serving-certs", "folder where the certificate's Secret is mounted")
	flag.IntVar(&o.port, "port", 9443, "port to serve the webhook at")
	flag.StringVar(&o.probes, "health-probe-bind-address", "0", "where to serve /healthz and /readyz, such as :8081 (default: nowhere)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "imagepolicy:", err)
		os.Exit(1)
	}
}

// options holds the values of the flags.
type options struct {
	local   bool
	certDir string
	port    int
	probes  string
}

// run serves the webhook until ctx ends.
func run(ctx context.Context, o options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	if o.local {
		if o.certDir, err = os.MkdirTemp("", "imagepolicy-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.certDir)
		if err := serveLocally(ctx, config, o); err != nil {
			return fmt.Errorf("--local: %w", err)
		}
	}
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	return mgr.Start(ctx)
}

// newManager returns a manager that serves the webhook. Its cache has only the ConfigMap.
func newManager(ctx context.Context, config *rest.Config, o options) (ctrl.Manager, error) {
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme.Scheme,
		WebhookServer:           newServer(o),
		HealthProbeBindAddress:  o.probes,
		Metrics:                 metricsserver.Options{BindAddress: "0"},
		GracefulShutdownTimeout: new(20 * time.Second),
		Cache: cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: {
			Namespaces: map[string]cache.Config{policyKey.Namespace: {FieldSelector: fields.OneTermEqualSelector("metadata.name", policyKey.Name)}},
		}}},
	})
	if err != nil {
		return nil, err
	}
	// Start the informer now. Otherwise the first webhook call would have to wait for it.
	if _, err := mgr.GetCache().GetInformer(ctx, &corev1.ConfigMap{}); err != nil {
		return nil, err
	}
	return mgr, errors.Join(addProbes(mgr), SetupDeploymentWebhookWithManager(mgr))
}

// newServer returns the webhook server. HTTP/1.1 is enough for the API server, and in HTTP/2, any
// client can keep a server busy by opening and resetting streams.
func newServer(o options) webhook.Server {
	host := ""
	if o.local {
		host = localhost
	}
	return webhook.NewServer(webhook.Options{
		Host:    host,
		Port:    o.port,
		CertDir: o.certDir,
		TLSOpts: []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }},
	})
}

// addProbes makes mgr answer probes. It is ready when it has the list of registries and serves the
// webhook. Until then, the Service sends it no requests.
func addProbes(mgr ctrl.Manager) error {
	isServing := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second/2)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the cache isn't synced yet")
		}
		return mgr.GetWebhookServer().StartedChecker()(request)
	}
	isAlive := func(*http.Request) error { return nil }
	return errors.Join(mgr.AddHealthzCheck("ping", isAlive), mgr.AddReadyzCheck("webhook", isServing))
}
