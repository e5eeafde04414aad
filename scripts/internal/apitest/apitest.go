// Package apitest gives tests an API server: a fake one with the test's own responses, or a real
// cluster's.
package apitest

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

// Start starts a server with HTTP/2 that closes with the test, and returns a config for its
// clients.
func Start(t *testing.T, handler http.HandlerFunc) (*httptest.Server, *rest.Config) {
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
