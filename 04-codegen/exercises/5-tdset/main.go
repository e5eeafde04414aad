// The flags, and the start of the program.

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.StringVar(&o.now, "now", "", "start as if it were this time, such as 2026-01-01T08:59:50Z; from then on, time passes as usual (default: now)")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.leaseNamespace, "leader-election-namespace", "tdset-system", "namespace of the Lease (manifests/rbac.yaml makes tdset-system)")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 logs what was done, 4 also why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := start(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "5-tdset:", err)
		os.Exit(1)
	}
}

// options are the values of the flags.
type options struct {
	kubeconfig, namespace, now string
	leaderElect                bool
	leaseNamespace             string
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
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	controller, err := newController(ctx, config, o.namespace, clock)
	if err != nil {
		return err
	}

	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace, "time", clock.Now().UTC().Format(time.RFC3339))
	defer klog.InfoS("Stopped")
	if !o.leaderElect {
		controller.run(ctx)
		return nil
	}
	return runAsLeader(ctx, config, o.leaseNamespace, controller.run)
}
