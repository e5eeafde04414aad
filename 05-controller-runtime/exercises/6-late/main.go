// Command 6-late is a controller for Foos: it creates a Deployment for each of them, and reports in
// the Foo's status whether the Deployment is available.
//
// exercise.go has the controller, desired.go what a Foo asks for. main.go only reads the flags and
// starts it.
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

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// scheme maps the kinds that the program uses to their Go types.
var scheme = runtime.NewScheme()

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(samplecontrollerv1alpha1.Install(scheme))
}

func main() {
	var namespace, metricsAddress string // --kubeconfig isn't here, because controller-runtime adds it
	flag.StringVar(&namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&metricsAddress, "metrics-bind-address", "0", "where to serve metrics, such as 127.0.0.1:8080 (default: nowhere)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if err := run(ctrl.SetupSignalHandler(), managerOptions(namespace, metricsAddress)); err != nil {
		fmt.Fprintln(os.Stderr, "6-late:", err)
		os.Exit(1)
	}
}

// managerOptions returns the settings of a manager for the Foos in namespace; "" means all
// namespaces.
func managerOptions(namespace, metricsAddress string) ctrl.Options {
	o := ctrl.Options{Scheme: scheme}
	o.Metrics.BindAddress = metricsAddress
	o.Cache.ReaderFailOnMissingInformer = true
	o.Cache.SyncPeriod = new(time.Duration(0)) // no resync
	if namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return o
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o ctrl.Options) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	c := &controller{Client: mgr.GetClient()}
	if err := c.SetupWithManager(mgr); err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host)
	defer klog.InfoS("Stopped")
	return mgr.Start(ctx)
}
