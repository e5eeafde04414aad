// Command 05-controller-runtime is a controller for Foos, built on controller-runtime.
//
// Read it in the order in which data flows:
//   - foo_controller.go: which changes concern which Foos, and the work on a Foo
//   - deployment.go and status.go: the steps of that work, and their requests
//   - desired.go: the state that a Foo asks for
//   - index.go: how to find objects in the cache
//
// main.go only reads the flags and starts the controller.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// A scheme maps kinds to Go types. The manager uses client-go's scheme, which has the built-in
// kinds, so add Foo to it.
func init() { utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme)) }

func main() {
	// The options of the manager. controller-runtime itself adds the flag --kubeconfig.
	o := ctrl.Options{LeaderElectionID: "foo-controller"}
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	flag.IntVar(&o.Controller.MaxConcurrentReconciles, "workers", 4, "how many Foos are processed at once")
	flag.StringVar(&o.Metrics.BindAddress, "metrics-bind-address", "0", "where to serve metrics, such as 127.0.0.1:8080 (default: nowhere)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "foo-system", "namespace of the Lease (manifests/rbac.yaml makes foo-system)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	o.Cache.DefaultNamespaces = map[string]cache.Config{*namespace: {}} // "" means all
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log) // client-go logs with klog
	if err := run(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "05-controller-runtime:", err)
		os.Exit(1)
	}
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o ctrl.Options) error {
	if workers := o.Controller.MaxConcurrentReconciles; workers < 1 {
		return fmt.Errorf("--workers %d: must be at least 1", workers)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	ctrl.Log.Info("Starting", "server", config.Host)
	mgr, err := ctrl.NewManager(config, o)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	foos := &FooReconciler{Client: mgr.GetClient(), APIReader: mgr.GetAPIReader(), Recorder: mgr.GetEventRecorder("foo-controller")}
	if err := foos.SetupWithManager(ctx, mgr); err != nil {
		return err
	}
	return mgr.Start(ctx)
}
