// The program on a real API server: which resources it finds, and what it prints.

package main

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func TestIntegrationResourceFor(t *testing.T) {
	server, err := discovery.NewDiscoveryClientForConfig(loadConfig(t))
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
	loadConfig(t)
	err := run(t.Context(), t.Output(), os.Getenv("TEST_KUBECONFIG"), "", "deploymens")
	if err == nil || !strings.Contains(err.Error(), "--resource deploymens: no matches for") {
		t.Errorf("got the error %v, want one that names the flag and the resource", err)
	}
}

// A ConfigMap is created, changed and deleted, and the program has no type for ConfigMaps.
func TestIntegrationChangesArePrinted(t *testing.T) {
	kube, err := kubernetes.NewForConfig(loadConfig(t))
	must(t, err)
	namespace, err := kube.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "dynamic-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := kube.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	var out output
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- run(ctx, &out, os.Getenv("TEST_KUBECONFIG"), namespace.Name, "cm") }()
	configMaps := kube.CoreV1().ConfigMaps(namespace.Name)

	_, err = configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "colours"}, Data: map[string]string{"sky": "blue"}}, metav1.CreateOptions{})
	must(t, err)
	out.waitFor(t, "added "+namespace.Name+"/colours\n")
	_, err = configMaps.Patch(t.Context(), "colours", types.MergePatchType, []byte(`{"data":{"sky":"red","grass":"green"},"metadata":{"labels":{"team":"blue"}}}`), metav1.PatchOptions{})
	must(t, err)
	out.waitFor(t, "changed "+namespace.Name+"/colours\n"+
		"  data.grass: (none) → \"green\"\n"+
		"  data.sky: \"blue\" → \"red\"\n"+
		"  metadata.labels.team: (none) → \"blue\"\n"+
		"  metadata.resourceVersion: ")
	must(t, configMaps.Delete(t.Context(), "colours", metav1.DeleteOptions{}))
	out.waitFor(t, "deleted "+namespace.Name+"/colours\n")

	stop()
	must(t, <-ended)
}

// output is what run prints. Its handlers write while the test reads.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) waitFor(t *testing.T, want string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return strings.Contains(o.String(), want), nil })
	if err != nil {
		t.Fatalf("after a minute, it had printed\n%s\nwant\n%s", o, want)
	}
}

func loadConfig(t *testing.T) *rest.Config {
	t.Helper()
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	transport, err := rest.TransportFor(config) // the one that the clients will have
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	return config
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
