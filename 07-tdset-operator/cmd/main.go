// Command cmd is the manager: the program that runs the controller for TDSets and their webhook. main.go reads the flags and starts it;
// manager.go has its settings, and webhooks.go what webhooks need. What is done about a TDSet is in internal/controller, and what is
// asked before one is stored in internal/webhook.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/controller"
	// +kubebuilder:scaffold:imports
)

// The markers kubebuilder:scaffold tell the kubebuilder CLI where to put what a further API needs. It expects these two names.
var (
	scheme   = runtime.NewScheme() // the Go types that clients may use: Kubernetes' own, and TDSet
	setupLog = ctrl.Log.WithName("setup")
)

func init() {
	utilruntime.Must(clientgoscheme.AddToScheme(scheme))
	utilruntime.Must(schedulev1.AddToScheme(scheme))
	// +kubebuilder:scaffold:scheme
}

func main() {
	o := options{podNamespace: os.Getenv("POD_NAMESPACE")}
	flag.CommandLine = flag.NewFlagSet(os.Args[0], flag.ExitOnError) // controller-runtime has put a --kubeconfig of its own into the first
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.DurationVar(&o.watchIdleTimeout, "watch-idle-timeout", 90*time.Second, "end a watch that has sent nothing for this long; a healthy one sends a bookmark every minute")
	flag.DurationVar(&o.resync, "resync", 0, "look at every TDSet again after this time, changed or not (default: every ten hours)")
	flag.IntVar(&o.workers, "workers", 4, "how many TDSets may be worked on at once")
	flag.DurationVar(&o.drainTimeout, "drain-timeout", time.Minute, "how long a TDSet that is deleted waits for the last of its Pods to end")
	flag.StringVar(&o.metricsAddress, "metrics-bind-address", "0", "where to serve metrics: 127.0.0.1:8080, or :8443 for HTTPS and clients that may read them (default: nowhere)")
	o.metricsCert.flags("metrics", "if it is empty, the server makes a certificate for itself")
	flag.StringVar(&o.probeAddress, "health-probe-bind-address", "0", "where to serve /healthz and /readyz, such as :8081 (default: nowhere)")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "work only while this replica leads; needed if there are several replicas")
	flag.StringVar(&o.election.namespace, "leader-election-namespace", "tdset-operator-system", "namespace of the Lease (config/default makes tdset-operator-system)")
	flag.DurationVar(&o.election.leaseDuration, "leader-election-lease-duration", 15*time.Second, "how long the other replicas wait after the last renewal")
	flag.DurationVar(&o.election.renewDeadline, "leader-election-renew-deadline", 8*time.Second, "how long the leader retries a renewal before it gives up")
	flag.DurationVar(&o.election.retryPeriod, "leader-election-retry-period", 2*time.Second, "how long the leader waits between two renewals")
	flag.BoolVar(&o.enableWebhooks, "enable-webhooks", false, "serve the webhooks as well, whether this replica leads or not")
	flag.StringVar(&o.webhookHost, "webhook-host", "", "address to serve webhooks at (default: every address of this host)")
	flag.IntVar(&o.webhookPort, "webhook-port", 9443, "port to serve webhooks at")
	o.webhookCert.flags("webhook", "needed for --enable-webhooks")
	flag.BoolVar(&o.rotateCerts, "rotate-certs", false, "make and renew the webhooks' certificate, in the Secret that --webhook-cert-path is mounted from; $POD_NAMESPACE says where that is")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 says what was done, 4 why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "tdset-operator:", err)
		os.Exit(1)
	}
}

// run runs the manager until ctx ends.
func run(ctx context.Context, o options) error {
	if err := o.check(); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	setupLog.Info("Starting", "server", config.Host, "namespace", o.namespace, "webhooks", o.enableWebhooks)
	defer setupLog.Info("Stopped")
	if err := addWatchIdleTimeout(config, o.watchIdleTimeout); err != nil {
		return err
	}
	mapper, err := newMapper(config)
	if err != nil {
		return err
	}
	if err := waitForCRD(ctx, mapper); err != nil {
		return nil // told to stop
	}
	mgr, err := newManager(config, mapper, o)
	if err != nil {
		return err
	}
	if err := setUp(ctx, mgr, o); err != nil {
		return err
	}

	return start(ctx, mgr)
}

// setUp adds to mgr what it is to run: the controllers, and the webhooks.
func setUp(ctx context.Context, mgr ctrl.Manager, o options) error {
	tdsets := &controller.TDSetReconciler{
		Client:       mgr.GetClient(),
		APIReader:    mgr.GetAPIReader(),
		Recorder:     mgr.GetEventRecorder("tdset-controller"),
		Clock:        clock.RealClock{},
		DrainTimeout: o.drainTimeout,
	}
	if err := tdsets.SetupWithManager(ctx, mgr, o.workers); err != nil {
		return fmt.Errorf("controller for TDSets: %w", err)
	}
	if o.enableWebhooks {
		if err := addWebhooks(mgr, o); err != nil {
			return fmt.Errorf("webhooks: %w", err)
		}
	}
	_ = os.Setenv("ENABLE_WEBHOOKS", strconv.FormatBool(o.enableWebhooks)) // what the CLI adds here asks for it
	// +kubebuilder:scaffold:builder
	return nil
}

// loadConfig finds the API server and the credentials: in the file at path, else where kubectl looks ($KUBECONFIG,
// ~/.kube/config), else in the Pod that this program runs in.
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
