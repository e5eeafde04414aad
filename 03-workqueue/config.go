// How the program finds the API server. This file is the same in chapters 01 to 04. From chapter 05
// on, controller-runtime does this.

package main

import (
	"fmt"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// loadConfig returns the address of the API server and the credentials for it. They come from the
// kubeconfig file at path, or else from where kubectl looks ($KUBECONFIG, ~/.kube/config), or else
// from the Pod that the program runs in.
func loadConfig(path string) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, nil).ClientConfig()
	files := strings.Join(rules.GetLoadingPrecedence(), ", ")
	if clientcmd.IsEmptyConfig(err) {
		return nil, fmt.Errorf("kubeconfig %s names no cluster: is it missing, empty, or without a current-context? Fix it, or name another with --kubeconfig or KUBECONFIG", files)
	}
	if err != nil {
		return nil, fmt.Errorf("kubeconfig %s: %w", files, err)
	}
	config.UserAgent = rest.DefaultKubernetesUserAgent()
	// The client needs no rate limit, because the API server has one that treats all clients fairly
	// (API Priority and Fairness).
	config.QPS = -1
	return config, nil
}
