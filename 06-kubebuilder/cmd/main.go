// Command cmd runs the controller for Foos and their webhooks.
//
// Read internal/controller in the order in which data flows:
//   - foo_controller.go: which changes concern which Foos, and the work on a Foo
//   - deployment.go and status.go: the steps of that work, and their requests
//   - desired.go: the state that a Foo asks for
//   - index.go: how to find objects in the cache
//
// The webhooks are in internal/webhook.
//
// main.go only reads the flags and starts it.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/internal/controller"
	webhookv1alpha1 "example.com/operators/06-kubebuilder/internal/webhook/v1alpha1"
	// +kubebuilder:scaffold:imports
)

// The kubebuilder CLI inserts code at the markers kubebuilder:scaffold. That code uses these two
// names.
var (
	scheme   = runtime.NewScheme() // which Go type is which kind
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	var o options // --kubeconfig isn't here, because controller-runtime adds it
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all); with webhooks, give their configurations a namespaceSelector for it, or Foos elsewhere are refused")
	flag.IntVar(&o.Controller.MaxConcurrentReconciles, "workers", 4, "how many Foos are processed at once")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics: 127.0.0.1:8080, or :8443 for HTTPS and authorized clients (default: nowhere)")
	flag.StringVar(&o.Metrics.CertDir, "metrics-cert-path", "", "folder of the metrics server's certificate, tls.crt and tls.key (default: the server makes its own)")
	flag.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", "0", "where to serve /healthz and /readyz, such as :8081 (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "foo-operator-system", "namespace of the Lease (config/default makes foo-operator-system)")
	flag.StringVar(&o.webhooks.Host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&o.webhooks.Port, "webhook-port", 9443, "port to serve webhooks at")
	flag.StringVar(&o.webhooks.CertDir, "webhook-cert-path", "", "folder of the webhook server's certificate, tls.crt and tls.key")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "foo-operator:", err)
		os.Exit(1)
	}
}

// options holds the values of the flags. Most are those of the manager, which has the cache, the
// client, the leader election and the metrics.
type options struct {
	ctrl.Options
	namespace string
	webhooks  webhook.Options
}

// webhooksEnabled reports whether to serve the webhooks. Code from the kubebuilder CLI asks for the
// same variable.
func webhooksEnabled() bool { return os.Getenv("ENABLE_WEBHOOKS") != "false" }

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if workers := o.Controller.MaxConcurrentReconciles; workers < 1 {
		return fmt.Errorf("--workers %d: must be at least 1", workers)
	}
	if webhooksEnabled() && o.webhooks.CertDir == "" {
		return errors.New("the webhooks need a certificate, because the API server calls them by HTTPS only: name its folder with --webhook-cert-path, or set ENABLE_WEBHOOKS=false")
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	setupLog.Info("Starting", "server", config.Host, "namespace", o.namespace)
	mgr, err := newManager(ctx, config, o)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newManager returns a manager with the controller, the webhooks and the probes, for the Foos in
// o.namespace; "" means all namespaces.
func newManager(ctx context.Context, config *rest.Config, o options) (ctrl.Manager, error) {
	o.Scheme = scheme
	o.webhooks.TLSOpts = []func(*tls.Config){withoutHTTP2}
	o.WebhookServer = webhook.NewServer(o.webhooks)
	o.LeaderElectionID = "foo-controller"
	if o.namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	o.Cache.ReaderFailOnMissingInformer = true                     // otherwise a read starts an informer
	o.Cache.DefaultTransform = cache.TransformStripManagedFields() // nobody reads them, and they are large
	secureMetrics(&o.Metrics)
	mgr, err := ctrl.NewManager(config, o.Options)
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	foos := &controller.FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	if err := foos.SetupWithManager(ctx, mgr); err != nil {
		return nil, err
	}
	if webhooksEnabled() {
		if err := webhookv1alpha1.SetupFooWebhookWithManager(mgr); err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
	}
	// +kubebuilder:scaffold:builder
	return mgr, addProbes(mgr)
}
