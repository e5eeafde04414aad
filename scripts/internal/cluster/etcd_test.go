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
	ports, err := r.ports()
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(r.dir, name) }
	authority, err := os.ReadFile(path(caFile))
	if err != nil {
		t.Fatal(err)
	}
	for _, port := range []int{ports.Etcd, ports.EtcdPeer} {
		for sentence, test := range map[string]struct {
			scheme string
			client rest.TLSClientConfig
			want   string // the error; "": there is none
		}{
			"without TLS":           {scheme: "http", want: "EOF"},
			"without a certificate": {scheme: "https", client: rest.TLSClientConfig{CAData: authority}, want: "certificate required"},
			"with a certificate": {scheme: "https", client: rest.TLSClientConfig{
				CAData: authority, CertFile: path(certFile), KeyFile: path(keyFile),
			}},
		} {
			var transport http.Transport
			if transport.TLSClientConfig, err = rest.TLSConfigFor(&rest.Config{TLSClientConfig: test.client}); err != nil {
				t.Fatal(err)
			}
			response, err := (&http.Client{Transport: &transport}).Get(fmt.Sprintf("%s://127.0.0.1:%d/version", test.scheme, port))
			if err == nil {
				_ = response.Body.Close()
			}
			transport.CloseIdleConnections()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("port %d %s: %v, want %q", port, sentence, err, test.want)
			}
		}
	}
}
