// Command 6-traffic is a small operator for Foos. It creates a Deployment for each Foo, and scales
// it. To stay small, it follows only the Foos, so it doesn't revert what others do to a Deployment.
//
// Read it in the order in which data flows:
//   - exercise.go: which Foos exist, and which have changed
//   - operator.go: the work on a Foo
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

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"example.com/operators/01-raw-watch/wire"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	watchTimeout := flag.Duration("watch-timeout", 5*time.Minute, "ask the API server to end each watch after this time, or up to twice as much: the exact time is random")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 logs what was done, 4 also why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := start(ctx, *kubeconfig, *namespace, *watchTimeout); err != nil {
		fmt.Fprintln(os.Stderr, "6-traffic:", err)
		os.Exit(1)
	}
}

// start finds the API server and runs the operator until ctx ends.
func start(ctx context.Context, kubeconfig, namespace string, watchTimeout time.Duration) error {
	if watchTimeout < time.Second {
		return fmt.Errorf("--watch-timeout %v: must be at least a second", watchTimeout)
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config): %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	klog.InfoS("Starting", "server", config.Host, "namespace", namespace)
	defer klog.InfoS("Stopped")
	return run(ctx, config, namespace, watchTimeout)
}

// run runs the operator for the Foos in namespace until ctx ends; "" means all namespaces.
func run(ctx context.Context, config *rest.Config, namespace string, watchTimeout time.Duration) error {
	client, err := wire.NewClient(config)
	if err != nil {
		return err
	}
	follower, err := newFollower(config, client, namespace, watchTimeout)
	if err != nil {
		return err
	}
	operator := operator{client}
	follower.follow(ctx, operator.handleFoo)
	return nil
}
