// Command 7-stuck is a controller for TDSets: it makes a Deployment for each of them, scales it by
// the time of day, and drains it before the TDSet is gone. It makes no Services and writes no
// status.
//
// exercise.go has the controller, desired.go what a TDSet asks for. main.go only reads the flags
// and starts it, together with the chapter's webhooks.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	webhookv2 "example.com/operators/07-tdset-operator/internal/webhook/v2"
)

// scheme maps the kinds that the program uses to their Go types.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(schedulev1.AddToScheme(scheme)) // for the conversion
	utilruntime.Must(schedulev2.AddToScheme(scheme))
}

func main() {
	var namespace string // --kubeconfig isn't here, because controller-runtime adds it
	var server webhook.Options
	flag.StringVar(&namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&server.Host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&server.Port, "webhook-port", 9443, "port to serve webhooks at")
	flag.StringVar(&server.CertDir, "webhook-cert-path", "", "folder of the webhook server's certificate, tls.crt and tls.key (default: no webhooks)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	options := managerOptions(namespace)
	options.WebhookServer = webhook.NewServer(server)
	if err := run(ctrl.SetupSignalHandler(), options, server.CertDir != ""); err != nil {
		fmt.Fprintln(os.Stderr, "7-stuck:", err)
		os.Exit(1)
	}
}

// managerOptions returns the settings of a manager for the TDSets in namespace; "" means all
// namespaces.
func managerOptions(namespace string) ctrl.Options {
	o := ctrl.Options{Scheme: scheme}
	o.Metrics.BindAddress = "0"
	o.Cache.ReaderFailOnMissingInformer = true
	o.Cache.SyncPeriod = new(time.Duration(0)) // no resync
	if namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o ctrl.Options, webhooks bool) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	r := &reconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader()}
	if err := r.SetupWithManager(mgr); err != nil {
		return err
	}
	if webhooks {
		if err := webhookv2.SetupTDSetWebhookWithManager(mgr); err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
	}
	klog.InfoS("Starting", "server", config.Host)
	defer klog.InfoS("Stopped")
	return mgr.Start(ctx)
}
