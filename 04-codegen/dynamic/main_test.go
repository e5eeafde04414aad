// Which resources the program finds on a real API server. more/dynamic.md runs the rest of it.

package main

import (
	"os"
	"strings"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
)

func TestIntegrationResourceFor(t *testing.T) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig(t))
	must(t, err)
	server, err := discovery.NewDiscoveryClientForConfig(config)
	must(t, err)
	for name, want := range map[string]string{
		"deployments":                           "apps/v1, Resource=deployments",
		"deployment":                            "apps/v1, Resource=deployments",
		"deploy":                                "apps/v1, Resource=deployments",
		"deploy.apps":                           "apps/v1, Resource=deployments",
		"deployments.v1.apps":                   "apps/v1, Resource=deployments",
		"pods.v1.":                              "/v1, Resource=pods",
		"foos.samplecontroller.k8s.io":          "samplecontroller.k8s.io/v1alpha1, Resource=foos",
		"foos.v1alpha1.samplecontroller.k8s.io": "samplecontroller.k8s.io/v1alpha1, Resource=foos",
	} {
		t.Run(name, func(t *testing.T) {
			gvr, err := resourceFor(server, name)
			if err != nil || gvr.String() != want {
				t.Errorf("got %s and the error %v, want %s", gvr, err, want)
			}
		})
	}
}

func TestIntegrationRunNamesTheResourceThatDoesNotExist(t *testing.T) {
	err := run(t.Context(), t.Output(), kubeconfig(t), "", "deploymens")
	if err == nil || !strings.Contains(err.Error(), "--resource deploymens: no matches for") {
		t.Errorf("got the error %v, want one that names the flag and the resource", err)
	}
}

func kubeconfig(t *testing.T) string {
	path := os.Getenv("TEST_KUBECONFIG")
	if path == "" {
		t.Skip("set TEST_KUBECONFIG to the path of the kubeconfig of a disposable cluster")
	}
	return path
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
