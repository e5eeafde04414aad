// Command 05-controller-runtime is a controller for Foos on controller-runtime.
//
// Read it in the order in which data flows:
//   - foo_controller.go: which changes concern which Foos
//   - reconcile.go: the work on a Foo
//   - desired.go: the state that a Foo asks for
//   - read.go and write.go: the requests
//
// main.go only reads the flags and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// A scheme maps kinds to Go types. client-go's scheme already has the built-in kinds.
func init() { utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme)) }

func main() {
	var o options // --kubeconfig isn't here, because controller-runtime adds it
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	o.Cache.SyncPeriod = flag.Duration("resync", 0, "reconcile every Foo again after this time, changed or not (default: never)")
	flag.IntVar(&o.Controller.MaxConcurrentReconciles, "workers", 4, "how many Foos are processed at once")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics, such as 127.0.0.1:8080 (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "foo-system", "namespace of the Lease (manifests/rbac.yaml makes foo-system)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "05-controller-runtime:", err)
		os.Exit(1)
	}
}

// options holds the values of the flags. Most are those of the manager, which has the cache, the
// client, the leader election and the metrics.
type options struct {
	ctrl.Options
	namespace string
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if workers := o.Controller.MaxConcurrentReconciles; workers < 1 {
		return fmt.Errorf("--workers %d: must be at least 1", workers)
	}
	if *o.Cache.SyncPeriod < 0 {
		return fmt.Errorf("--resync %v: must not be negative; 0 means never", *o.Cache.SyncPeriod)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace)
	defer klog.InfoS("Stopped")
	mgr, err := newManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	c := &controller{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	if err := c.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}

// newManager returns a manager for the Foos in o.namespace; "" means all namespaces.
func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	o.LeaderElectionID = "foo-controller"
	o.Cache.DefaultWatchErrorHandler = watchErrorHandler
	if o.namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	return ctrl.NewManager(config, o.Options)
}
