// Command cmd is the manager. It runs a controller for TDSets, and their webhooks: one checks
// schedules, and one converts between the versions of the API.
//
// The controller is in internal/controller, the webhook in internal/webhook, and the conversion in
// api/v1. main.go only reads the flags and starts the manager. serving.go is about its servers.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/controller"
	webhookv2 "example.com/operators/07-tdset-operator/internal/webhook/v2"
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
	utilruntime.Must(schedulev1.AddToScheme(scheme)) // for the conversion
	utilruntime.Must(schedulev2.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	var o options // --kubeconfig isn't here, because controller-runtime adds it
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.IntVar(&o.Controller.MaxConcurrentReconciles, "workers", 4, "how many TDSets are processed at once")
	flag.DurationVar(&o.drainTimeout, "drain-timeout", time.Minute, "how long a TDSet that is being deleted waits for its Pods to end")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics: 127.0.0.1:8080, or :8443 for HTTPS and authorized clients (default: nowhere)")
	flag.StringVar(&o.Metrics.CertDir, "metrics-cert-path", "", "folder of the metrics server's certificate, tls.crt and tls.key (default: the server makes its own)")
	flag.StringVar(&o.HealthProbeBindAddress, "health-probe-bind-address", "0", "where to serve /healthz and /readyz, such as :8081 (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "tdset-operator-system", "namespace of the Lease (config/default makes tdset-operator-system)")
	flag.StringVar(&o.webhooks.Host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&o.webhooks.Port, "webhook-port", 9443, "port to serve webhooks at")
	flag.StringVar(&o.webhooks.CertDir, "webhook-cert-path", "", "folder of the webhook server's certificate, tls.crt and tls.key")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "tdset-operator:", err)
		os.Exit(1)
	}
}

// options holds the values of the flags. Most are those of the manager, which has the cache, the
// client, the leader election and the metrics.
type options struct {
	ctrl.Options
	namespace    string
	drainTimeout time.Duration
	webhooks     webhook.Options
}

// webhooksEnabled reports whether to serve the webhooks. Code from the kubebuilder CLI asks for the
// same variable.
func webhooksEnabled() bool { return os.Getenv("ENABLE_WEBHOOKS") != "false" }

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if workers := o.Controller.MaxConcurrentReconciles; workers < 1 {
		return fmt.Errorf("--workers %d: must be at least 1", workers)
	}
	if o.drainTimeout <= 0 {
		return fmt.Errorf("--drain-timeout %v: must be positive, because Pods take a moment to end", o.drainTimeout)
	}
	if webhooksEnabled() && o.webhooks.CertDir == "" {
		return errors.New("the webhooks need a certificate, because the API server calls them by HTTPS only: name its folder with --webhook-cert-path, or set ENABLE_WEBHOOKS=false")
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	setupLog.Info("Starting", "server", config.Host, "namespace", o.namespace)
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// ofTDSets selects the Pods of all TDSets, for the drain. In a big cluster, these are only a few of
// all Pods.
var ofTDSets, _ = labels.Parse(controller.TDSetLabel) // a constant, so there is no error

// unfinished selects the Pods that haven't finished, because an evicted Pod stays Failed and nobody
// deletes it. When a Pod finishes, it leaves the cache as if it had been deleted.
var unfinished = fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
)

// newManager returns a manager with the controller, the webhooks and the probes, for the TDSets in
// o.namespace; "" means all namespaces.
func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	o.Scheme = scheme
	o.webhooks.TLSOpts = []func(*tls.Config){withoutHTTP2}
	o.WebhookServer = webhook.NewServer(o.webhooks)
	o.LeaderElectionID = "tdset-controller"
	o.Cache.ByObject = map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: ofTDSets, Field: unfinished}}
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
	tdsets := &controller.TDSetReconciler{
		Client:       mgr.GetClient(),
		APIReader:    mgr.GetAPIReader(),
		Recorder:     mgr.GetEventRecorder("tdset-controller"),
		Clock:        clock.RealClock{},
		DrainTimeout: o.drainTimeout,
	}
	if err := tdsets.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	if webhooksEnabled() {
		if err := webhookv2.SetupTDSetWebhookWithManager(mgr); err != nil {
			return nil, fmt.Errorf("webhooks: %w", err)
		}
	}
	// +kubebuilder:scaffold:builder
	return mgr, addProbes(mgr)
}
