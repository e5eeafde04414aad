// Command 04-codegen is a controller for Foos with a generated client and server-side apply.
//
// Read it in the order in which data flows:
//   - informers.go and events.go: which changes concern which Foos
//   - queue.go and reconcile.go: the work on a Foo
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
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/klog/v2"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
)

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.DurationVar(&o.resync, "resync", 0, "reconcile every Foo again after this time, changed or not (default: never)")
	flag.IntVar(&o.workers, "workers", 4, "how many Foos are processed at once")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.leaseNamespace, "leader-election-namespace", "foo-system", "namespace of the Lease (manifests/rbac.yaml makes foo-system)")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 logs what was done, 4 also why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "04-codegen:", err)
		os.Exit(1)
	}
}

// options are the values of the flags.
type options struct {
	kubeconfig, namespace string
	resync                time.Duration
	workers               int
	leaderElect           bool
	leaseNamespace        string
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if o.workers < 1 {
		return fmt.Errorf("--workers %d: must be at least 1", o.workers)
	}
	if o.resync < 0 {
		return fmt.Errorf("--resync %v: must not be negative; 0 means never", o.resync)
	}
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace)
	defer klog.InfoS("Stopped")
	foos, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client for Foos: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client for Deployments: %w", err)
	}
	controller, err := newController(ctx, foos, kube, o.namespace, o.resync)
	if err != nil {
		return err
	}

	if !o.leaderElect {
		controller.run(ctx, o.workers)
		return nil
	}
	return runAsLeader(ctx, config, o.leaseNamespace, func(ctx context.Context) { controller.run(ctx, o.workers) })
}
