// Command 05-controller-runtime is the controller for Foos on controller-runtime. Read it in the
// order in which data flows: events.go (how events arrive), reconcile.go (what is done about a
// Foo), desired.go (what a Foo wants), read.go and write.go (the requests). main.go only reads the
// flags and starts the manager.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

func main() {
	var o options
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError) // controller-runtime has put a --kubeconfig of its own into the first
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.DurationVar(&o.watchIdleTimeout, "watch-idle-timeout", 90*time.Second, "end a watch that has sent nothing for this long; a healthy one sends a bookmark every minute")
	flag.DurationVar(&o.resync, "resync", 0, "look at every Foo again after this time, changed or not (default: every ten hours)")
	flag.IntVar(&o.workers, "workers", 4, "how many Foos may be worked on at once")
	flag.BoolVar(&o.unstructured, "unstructured", false, "keep and read objects without their Go types: see unstructured.go")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "where to serve metrics: 127.0.0.1:8080, or :8443 for HTTPS and clients that may read them (default: nowhere)")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", "0", "where to serve /healthz and /readyz, such as :8081 (default: nowhere)")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.election.namespace, "leader-election-namespace", "foo-system", "namespace of the Lease (manifests/rbac.yaml makes foo-system)")
	flag.DurationVar(&o.election.leaseDuration, "leader-election-lease-duration", 15*time.Second, "how long the other replicas wait after the last renewal")
	flag.DurationVar(&o.election.renewDeadline, "leader-election-renew-deadline", 8*time.Second, "how long the leader retries a renewal before it gives up")
	flag.DurationVar(&o.election.retryPeriod, "leader-election-retry-period", 2*time.Second, "how long the leader waits between two renewals")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 says what was done, 4 why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "05-controller-runtime:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	kubeconfig, namespace        string
	resync, watchIdleTimeout     time.Duration
	workers                      int
	unstructured                 bool
	metricsAddress, probeAddress string
	leaderElect                  bool
	election                     leaderElection
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if o.workers < 1 {
		return fmt.Errorf("--workers %d: at least one is needed", o.workers)
	}
	ctrl.SetLogger(klog.Background())
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace)
	defer klog.InfoS("Stopped")
	if err := addWatchIdleTimeout(config, o.watchIdleTimeout); err != nil {
		return err
	}
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	if err := waitForCRD(ctx, mgr.GetRESTMapper()); err != nil {
		return nil // told to stop
	}
	if err := setUp(ctx, mgr, o); err != nil {
		return err
	}

	return start(ctx, mgr)
}

// loadConfig finds the API server and the credentials: in the file at path, else where kubectl
// looks ($KUBECONFIG, ~/.kube/config), else in the Pod that this program runs in.
func loadConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	files := strings.Join(rules.GetLoadingPrecedence(), ", ")
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("kubeconfig %s names no cluster: is it missing, empty, or without a current-context? Mend it, or name another with --kubeconfig or KUBECONFIG", files)
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.QPS = -1 // no limit here: the server has one that is fair to all (API Priority and Fairness)
	return config, nil
}
