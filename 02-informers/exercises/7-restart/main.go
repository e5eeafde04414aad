// Command 7-restart is a small operator for Foos. Each Foo gets one Deployment, and keeps it even
// if it asks for another name later, because a new Deployment would replace all Pods.
//
// Read it in the order in which data flows:
//   - exercise.go: the informers and their handlers
//   - reconcile.go: the work on a Foo
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

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	namespace := flag.String("namespace", "", "act on this namespace only (default: all)")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 logs what was done, 4 also why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := start(ctx, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "7-restart:", err)
		os.Exit(1)
	}
}

// start finds the API server and runs the operator until ctx ends.
func start(ctx context.Context, kubeconfig, namespace string) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config): %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	config.QPS = -1 // no limit, because the server has one that treats all clients fairly
	controller, err := newController(config, namespace)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", namespace)
	defer klog.InfoS("Stopped")
	controller.run(ctx)
	return nil
}
