// Command 6-outage is the chapter's operator for Foos, with one more webhook: the guard, which
// refuses Pods that somebody starts by hand with a Foo's label.
//
// exercise.go has the guard, and the configuration that tells the API server when to ask it. The
// controller and the webhooks for Foos are the chapter's. main.go only reads the flags and starts
// all of them, or prints the guard's configuration.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/internal/controller"
	webhookv1alpha1 "example.com/operators/06-kubebuilder/internal/webhook/v1alpha1"
)

// scheme maps the kinds that the program uses to their Go types.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(samplecontrollerv1alpha1.AddToScheme(scheme))
}

func main() {
	var namespace string // --kubeconfig isn't here, because controller-runtime adds it
	var printGuard bool
	var server webhook.Options
	flag.StringVar(&namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&server.Host, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&server.Port, "webhook-port", 9443, "port to serve webhooks at")
	flag.StringVar(&server.CertDir, "webhook-cert-path", "", "folder of the webhook server's certificate, tls.crt and tls.key (default: no webhooks)")
	flag.BoolVar(&printGuard, "print-guard", false, "print the guard's webhook configuration, which is part of the installation, and exit")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	do := func() error {
		options := managerOptions(namespace)
		options.WebhookServer = webhook.NewServer(server)
		return run(ctrl.SetupSignalHandler(), options, server.CertDir != "")
	}
	if printGuard {
		do = printConfiguration
	}
	if err := do(); err != nil {
		fmt.Fprintln(os.Stderr, "6-outage:", err)
		os.Exit(1)
	}
}

// printConfiguration prints the guard's configuration for kubectl.
func printConfiguration() error {
	content, err := yaml.Marshal(guardConfiguration())
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(content)
	return err
}

// managerOptions returns the settings of a manager for the Foos in namespace; "" means all
// namespaces.
func managerOptions(namespace string) ctrl.Options {
	o := ctrl.Options{Scheme: scheme}
	o.Metrics.BindAddress = "0"
	o.Cache.ReaderFailOnMissingInformer = true
	if namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// run runs the controller and the webhooks until ctx ends.
func run(ctx context.Context, o ctrl.Options, webhooks bool) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	foos := &controller.FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	if err := foos.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	if webhooks {
		if err := webhookv1alpha1.SetupFooWebhookWithManager(mgr); err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
		if err := (&guard{mgr.GetClient()}).SetupWithManager(mgr); err != nil {
			return fmt.Errorf("guard: %w", err)
		}
	}
	klog.InfoS("Starting", "server", config.Host)
	defer klog.InfoS("Stopped")
	return mgr.Start(ctx)
}
