package cluster

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// etcdRequiresACertificate shows that etcd rejects clients and peers without the cluster's
// certificate.
func etcdRequiresACertificate(t *testing.T, r real) {
	components, err := r.components()
	if err != nil {
		t.Fatal(err)
	}
	pki := func(name string) string { return filepath.Join(r.kwok(), "pki", name) }
	authority, err := os.ReadFile(pki("ca.crt"))
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, component := range components {
		if component.Name != "etcd" {
			continue
		}
		for _, port := range component.Ports {
			tried++
			for sentence, test := range map[string]struct {
				scheme string
				client rest.TLSClientConfig
				want   string // the error; "": there is none
			}{
				"without TLS":           {scheme: "http", want: "EOF"},
				"without a certificate": {scheme: "https", client: rest.TLSClientConfig{CAData: authority}, want: "certificate required"},
				"with a certificate": {scheme: "https", client: rest.TLSClientConfig{
					CAData: authority, CertFile: pki("admin.crt"), KeyFile: pki("admin.key"),
				}},
			} {
				var transport http.Transport
				if transport.TLSClientConfig, err = rest.TLSConfigFor(&rest.Config{TLSClientConfig: test.client}); err != nil {
					t.Fatal(err)
				}
				response, err := (&http.Client{Transport: &transport}).Get(fmt.Sprintf("%s://127.0.0.1:%d/version", test.scheme, port.Port))
				if err == nil {
					_ = response.Body.Close()
				}
				transport.CloseIdleConnections()
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("port %d %s: %v, want %q", port.Port, sentence, err, test.want)
				}
			}
		}
	}
	if tried != 2 {
		t.Errorf("etcd has %d ports, want one for clients and one for other etcds", tried)
	}
}
