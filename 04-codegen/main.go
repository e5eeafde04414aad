// Command 04-codegen is the controller for Foos with a generated client and server-side apply. Read it in the order in which data flows:
// events.go (how events arrive), queue.go (how work waits), reconcile.go (what is done about a Foo), desired.go (what a Foo
// wants), read.go and write.go (the requests). main.go only reads the flags and starts it.
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

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"

	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned/scheme"
)

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.DurationVar(&o.resync, "resync", 0, "look at every Foo again after this time, changed or not (default: never)")
	flag.DurationVar(&o.silence, "silence", 90*time.Second, "give up a watch that has said nothing for so long; a live one sends a bookmark every minute")
	flag.IntVar(&o.workers, "workers", 4, "how many Foos may be worked on at once")
	flag.BoolVar(&o.leaderElect, "leader-elect", false, "work only while this copy leads: needed when several run")
	flag.StringVar(&o.election.namespace, "leader-election-namespace", "foo-system", "namespace of the Lease (manifests/rbac.yaml makes foo-system)")
	flag.DurationVar(&o.election.leaseDuration, "leader-election-lease-duration", 15*time.Second, "how long others wait for a leader that is silent")
	flag.DurationVar(&o.election.renewDeadline, "leader-election-renew-deadline", 10*time.Second, "how long a leader tries to renew before it gives up")
	flag.DurationVar(&o.election.retryPeriod, "leader-election-retry-period", 2*time.Second, "how often a leader renews; others ask a little less often")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 says what was done, 4 why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "04-codegen:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	kubeconfig, namespace string
	resync, silence       time.Duration
	workers               int
	leaderElect           bool
	election              leaderElection
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	if o.workers < 1 {
		return fmt.Errorf("--workers %d: at least one is needed", o.workers)
	}
	if o.silence <= 0 {
		return fmt.Errorf("--silence %v: it must be more than nothing; below the minute between two bookmarks, live watches are given up too", o.silence)
	}
	if o.resync < 0 {
		return fmt.Errorf("--resync %v: it must not be less than nothing; 0 is never", o.resync)
	}
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	limitSilence(config, o.silence)
	foos, err := versioned.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client for Foos: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("client for Deployments: %w", err)
	}
	recorder, stopRecording := newRecorder(ctx, kube)
	defer stopRecording()
	controller, err := newController(foos, kube, recorder, o.namespace, o.resync)
	if err != nil {
		return err
	}

	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace)
	defer klog.InfoS("Stopped")
	work := func(ctx, leading context.Context) { controller.run(ctx, leading, o.workers) }
	if o.leaderElect {
		return o.election.lead(ctx, kube, work)
	}
	work(ctx, context.WithoutCancel(ctx)) // alone, it always leads
	return nil
}

// newRecorder returns a recorder of Kubernetes events, the lines at the end of `kubectl describe`.
func newRecorder(ctx context.Context, kube kubernetes.Interface) (record.EventRecorder, func()) {
	// Not ended by ctx: the work that is under way then has events to record too. (Shutdown doesn't wait for the last of them:
	// an event is a courtesy, the status is what counts.)
	broadcaster := record.NewBroadcaster(record.WithContext(context.WithoutCancel(ctx)))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: kube.CoreV1().Events("")})
	return broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "foo-controller"}), broadcaster.Shutdown
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
