// Command deltas shows what an informer does with each change: the delta that it takes out of its
// FIFO, the store before and after, and the handlers. It watches ConfigMaps, because nothing changes
// them behind your back.
//
//	go run ./02-informers/deltas --namespace default
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it)")
	namespace := flag.String("namespace", metav1.NamespaceDefault, "the namespace whose ConfigMaps to watch")
	handlersTake := flag.Duration("handlers-take", 0, "how long each call of a handler takes, such as 3s")
	bookmarks := flag.Bool("bookmarks", false, "print bookmarks, too, which come about once a minute")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	lw, err := configMaps(*kubeconfig, *namespace)
	if err != nil {
		fmt.Fprintln(os.Stderr, "deltas:", err)
		os.Exit(1)
	}
	i := newInformer(os.Stdout, func() { time.Sleep(*handlersTake) })
	i.bookmarks = *bookmarks
	i.run(ctx, lw)
}

// configMaps returns the two requests of a Reflector that watches the ConfigMaps of a namespace.
func configMaps(kubeconfig, namespace string) (*cache.ListWatch, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("kubeconfig (--kubeconfig, KUBECONFIG or ~/.kube/config): %w", err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().ConfigMaps(namespace).List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().ConfigMaps(namespace).Watch(ctx, options)
		},
	}, nil
}
