// Command imageswap sets every Deployment in a namespace to one image, which is named in the
// ConfigMap "imageswap" under the key "image". It is the smallest controller on informers, so read
// it before the Foo controller.
//
//	kubectl create configmap imageswap --from-literal image=nginx:1.29
//	go run ./02-informers/imageswap --namespace default
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	namespace := flag.String("namespace", "", "the namespace to act on; there is no default, since this changes every Deployment in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := start(ctx, *kubeconfig, *namespace); err != nil {
		fmt.Fprintln(os.Stderr, "imageswap:", err)
		os.Exit(1)
	}
}

func start(ctx context.Context, kubeconfig, namespace string) error {
	if namespace == "" {
		return errors.New("which namespace? Name it with --namespace")
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config): %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", namespace)
	newSwapper(client, namespace).run(ctx)
	return nil
}
