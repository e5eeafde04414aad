package main

import (
	"crypto/tls"
	"slices"
	"testing"

	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Metrics that leave this machine are encrypted, and for authorized clients only. That includes
// addresses that might leave it.
func TestSecureMetrics(t *testing.T) {
	for address, wantSecure := range map[string]bool{
		"0": false, // disabled

		"127.0.0.1:0":    false,
		"127.0.0.2:8080": false,
		"[::1]:0":        false,

		":8443":              true,
		"0.0.0.0:8443":       true,
		"[::]:8443":          true,
		"10.0.0.1:8443":      true,
		"localhost:8080":     true, // a name can resolve to any address
		"[fe80::1%eth0]:443": true,
		"":                   true, // controller-runtime's default, :8080
		"8080":               true,
		"127.0.0.1":          true,
	} {
		t.Run(address, func(t *testing.T) {
			got := metricsserver.Options{BindAddress: address}
			secureMetrics(&got)
			if got.BindAddress != address || got.SecureServing != wantSecure || (got.FilterProvider != nil) != wantSecure {
				t.Errorf("got the address %q, HTTPS %v, authorization %v; want the address %q, and both %v",
					got.BindAddress, got.SecureServing, got.FilterProvider != nil, address, wantSecure)
			}
			config := &tls.Config{NextProtos: []string{"h2", "http/1.1"}}
			for _, change := range got.TLSOpts {
				change(config)
			}
			if wantSecure && !slices.Equal(config.NextProtos, []string{"http/1.1"}) {
				t.Errorf("the protocols are %q, want only http/1.1", config.NextProtos)
			}
		})
	}
}
