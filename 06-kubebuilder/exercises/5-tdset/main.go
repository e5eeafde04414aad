// The flags, and the start of the program.

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

func main() {
	var o options // --kubeconfig isn't here, because controller-runtime adds it
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.now, "now", "", "start as if it were this time, such as 2026-01-01T08:59:50Z; from then on, time passes as usual (default: now)")
	flag.BoolVar(&o.LeaderElection, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.LeaderElectionNamespace, "leader-election-namespace", "tdset-system", "namespace of the Lease (manifests/rbac.yaml makes tdset-system)")
	logOptions := zap.Options{Development: true} // text for people; otherwise JSON
	logOptions.BindFlags(flag.CommandLine)
	flag.Parse()

	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&logOptions)))
	klog.SetLogger(ctrl.Log)
	if err := start(ctrl.SetupSignalHandler(), o); err != nil {
		fmt.Fprintln(os.Stderr, "5-tdset:", err)
		os.Exit(1)
	}
}

// options are the values of the flags. Those of the leader election are the manager's.
type options struct {
	ctrl.Options
	namespace, now string
}

// start runs the controller until ctx ends.
func start(ctx context.Context, o options) error {
	var clock shiftedClock
	if o.now != "" {
		now, err := time.Parse(time.RFC3339, o.now)
		if err != nil {
			return fmt.Errorf("--now %q is not a time such as 2026-01-01T08:59:50Z", o.now)
		}
		clock.by = now.Sub(clock.Now())
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w; name another with --kubeconfig or KUBECONFIG", err)
	}
	settings, err := managerOptions(o)
	if err != nil {
		return err
	}
	mgr, err := ctrl.NewManager(config, settings)
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if err := setUp(mgr, clock); err != nil {
		return err
	}

	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace, "time", clock.Now().UTC().Format(time.RFC3339))
	defer klog.InfoS("Stopped")
	return mgr.Start(ctx)
}
