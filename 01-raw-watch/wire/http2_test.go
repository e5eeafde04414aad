// The other tests speak HTTP/1.1 over a connection in memory. A real API server speaks HTTP/2 over TLS, where many requests
// share one connection: these tests see that giving up one of them works there as well. The waits are real here, so
// they are short, and nothing is measured.

package wire

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

func TestSilenceOverHTTP2(t *testing.T) {
	for name, silent := range map[string]http.HandlerFunc{
		"a watch that never gets an answer": silence,
		"a watch that stops":                stream(half(added(pod("a", 11))), quiet),
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Proto != "HTTP/2.0" {
					t.Errorf("a request came by %s", r.Proto)
				}
				silent(w, r)
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
			client, err := NewClient(&rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{CAData: ca}}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer utilnet.CloseIdleConnectionsFor(client.http.Transport)
			reflector := NewReflector(client, "/api/v1/pods")
			reflector.Silence = 50 * time.Millisecond

			_, err = reflector.watch(t.Context(), nil)

			if err == nil || !strings.Contains(err.Error(), "nothing heard for 50ms") {
				t.Errorf("the watch ended with %v, want that nothing was heard", err)
			}
		})
	}
}
