// Command imagepolicy serves a webhook that refuses Deployments with images from other registries
// than those in a ConfigMap. manifests/policy.yaml is the same rule without a program.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	var server webhook.Options
	flag.StringVar(&server.Host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.StringVar(&server.CertDir, "webhook-cert-path", "", "folder of the certificate, tls.crt and tls.key (default: k8s-webhook-server/serving-certs in $TMPDIR)")
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	if err := run(ctrl.SetupSignalHandler(), server); err != nil {
		fmt.Fprintln(os.Stderr, "imagepolicy:", err)
		os.Exit(1)
	}
}

// run serves the webhook until ctx ends. It answers probes at port 8081.
func run(ctx context.Context, server webhook.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := newManager(config, server, net.JoinHostPort(server.Host, "8081"))
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	return mgr.Start(ctx)
}

// newManager returns a manager that serves the webhook. Its cache has only the ConfigMap.
func newManager(config *rest.Config, server webhook.Options, probes string) (ctrl.Manager, error) {
	// HTTP/1.1 is enough for the API server, and in HTTP/2, any client can keep a server busy by
	// opening and resetting streams.
	server.TLSOpts = []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		WebhookServer:          webhook.NewServer(server),
		HealthProbeBindAddress: probes,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		Cache: cache.Options{
			DefaultNamespaces:    map[string]cache.Config{policyKey.Namespace: {}},
			DefaultFieldSelector: fields.OneTermEqualSelector("metadata.name", policyKey.Name),
		},
	})
	if err != nil {
		return nil, err
	}
	// This read starts the watch of the ConfigMap. Until it is in the cache, the Service sends no
	// requests.
	policyIsRead := func(request *http.Request) error {
		return client.IgnoreNotFound(mgr.GetClient().Get(request.Context(), policyKey, &corev1.ConfigMap{}))
	}
	return mgr, errors.Join(
		mgr.AddHealthzCheck("ping", healthz.Ping),
		mgr.AddReadyzCheck("webhook", mgr.GetWebhookServer().StartedChecker()),
		mgr.AddReadyzCheck("policy", policyIsRead),
		SetupDeploymentWebhookWithManager(mgr))
}
