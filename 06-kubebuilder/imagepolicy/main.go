// Command imagepolicy serves a webhook that refuses Deployments with images from other registries
// than those in a ConfigMap. manifests/policy.yaml is the same rule without a program.
//
//	kubectl apply -f 06-kubebuilder/imagepolicy/manifests/config.yaml -f 06-kubebuilder/imagepolicy/manifests/webhook.yaml
//	go run ./06-kubebuilder/imagepolicy --local
package main

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/cert"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
)

func main() {
	local := flag.Bool("local", false, "serve on 127.0.0.1 with a new certificate, and make the API server call this address")
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseDevMode(true)))
	if err := run(ctrl.SetupSignalHandler(), *local); err != nil {
		fmt.Fprintln(os.Stderr, "imagepolicy:", err)
		os.Exit(1)
	}
}

// run serves the webhook until ctx ends. In a Pod, it uses controller-runtime's port and the
// certificate in /tmp/k8s-webhook-server/serving-certs, and answers probes at port 8081.
func run(ctx context.Context, local bool) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	o, probes := webhook.Options{Port: webhook.DefaultPort}, ":8081"
	if local {
		o.Host, probes = "127.0.0.1", "0"
		if o.CertDir, err = os.MkdirTemp("", "imagepolicy-"); err != nil {
			return err
		}
		defer os.RemoveAll(o.CertDir)
		if err := callThisMachine(ctx, config, o); err != nil {
			return fmt.Errorf("--local: %w", err)
		}
	}
	mgr, err := newManager(config, o, probes)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	return mgr.Start(ctx)
}

// newManager returns a manager that serves the webhook. Its cache has only the ConfigMap.
func newManager(config *rest.Config, o webhook.Options, probes string) (ctrl.Manager, error) {
	// HTTP/1.1 is enough for the API server, and in HTTP/2, any client can keep a server busy by
	// opening and resetting streams.
	o.TLSOpts = []func(*tls.Config){func(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }}
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		WebhookServer:          webhook.NewServer(o),
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

// callThisMachine makes the API server call this machine instead of a Service, and trust a new
// certificate, which it writes to o.CertDir. The webhook configuration stays like this, so that you
// can see what happens while the program is down.
func callThisMachine(ctx context.Context, config *rest.Config, o webhook.Options) error {
	certificate, key, err := cert.GenerateSelfSignedCertKey(o.Host, nil, nil)
	if err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	if err := errors.Join(
		os.WriteFile(filepath.Join(o.CertDir, "tls.crt"), certificate, 0o600),
		os.WriteFile(filepath.Join(o.CertDir, "tls.key"), key, 0o600)); err != nil {
		return fmt.Errorf("certificate: %w", err)
	}
	api, err := client.New(config, client.Options{})
	if err != nil {
		return err
	}
	installed := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "image-policy"}}
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/webhooks/0/clientConfig", "value":
		{"url": "https://%s:%d/validate-apps-v1-deployment", "caBundle": %q}}]`,
		o.Host, o.Port, base64.StdEncoding.EncodeToString(certificate))
	if err := api.Patch(ctx, installed, client.RawPatch(types.JSONPatchType, []byte(patch))); err != nil {
		return fmt.Errorf("%w: apply manifests/webhook.yaml first", err)
	}
	return nil
}
