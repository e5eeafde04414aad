// Package apitest starts what stands for an API server in tests: HTTPS as that speaks it, and answers as the test gives them.
package apitest

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"testing"

	"k8s.io/client-go/rest"
)

// Start starts a server that speaks HTTP/2, and ends it with the test. The config is how one reaches it.
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
