// The flags, and the start of the program.

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
	if err := start(ctx, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "7-busy:", err)
		os.Exit(1)
	}
}

// start runs the controller until ctx ends.
func start(ctx context.Context, kubeconfig, namespace string) error {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	controller, err := newController(config, namespace)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", namespace)
	defer klog.InfoS("Stopped")
	controller.run(ctx)
	return nil
}
