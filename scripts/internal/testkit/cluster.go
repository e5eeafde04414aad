package testkit

// API servers for tests: a fake one with the test's own responses, and a real cluster's.

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// StartServer starts a server with HTTP/2 that closes with the test, and returns a config for its
// clients.
func StartServer(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *rest.Config) {
	server := httptest.NewUnstartedServer(handler)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	return server, &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}
}

// Cluster returns the config and a client of the real cluster in TEST_KUBECONFIG. Without one, it
// skips the test.
func Cluster(t *testing.T) (*rest.Config, kubernetes.Interface) {
	t.Helper()
	if os.Getenv("TEST_KUBECONFIG") == "" {
		t.Skip("needs a cluster to change as it likes: run ./scripts/workshop test, or set TEST_KUBECONFIG")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("TEST_KUBECONFIG"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return config, client
}
