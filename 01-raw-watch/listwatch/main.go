// Command listwatch follows one collection until it is stopped. It lists, watches and resumes, and
// lists again if it has to. It prints each request (>), each event (<), and the change that a
// controller would get (no sign).
//
//	go run ./01-raw-watch/listwatch --page-size 3 /api/v1/namespaces/default/pods
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"k8s.io/client-go/tools/clientcmd"

	"example.com/operators/01-raw-watch/wire"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	pageSize := flag.Int("page-size", 500, "the most objects that one response to a list may have")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := listWatch(ctx, *kubeconfig, flag.Arg(0), *pageSize); err != nil {
		fmt.Fprintln(os.Stderr, "listwatch:", err)
		os.Exit(1)
	}
}

// listWatch prints the changes in the collection at path until ctx ends.
func listWatch(ctx context.Context, kubeconfig, path string, pageSize int) error {
	if path == "" {
		return fmt.Errorf("which collection? Give its path, such as /api/v1/pods")
	}
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	files := strings.Join(rules.GetLoadingPrecedence(), ", ")
	if clientcmd.IsEmptyConfig(err) {
		return fmt.Errorf("kubeconfig %s names no cluster: is it missing, empty, or without a current-context? "+
			"Fix it, or name another with --kubeconfig or KUBECONFIG", files)
	}
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	client, err := wire.NewClient(config)
	if err != nil {
		return err
	}
	client.TraceTo(os.Stdout)
	reflector := wire.NewReflector(client, path)
	reflector.PageSize = pageSize

	events := make(chan wire.Event)
	go reflector.Run(ctx, events)
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-events:
			fmt.Printf("  %s %s\n", event.Type, event.Object.Name)
		}
	}
}
