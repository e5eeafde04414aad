// Who may read the metrics, and how they are served. installed_test.go reads them as a remote
// client, because that needs an API server to check permissions.

package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// Metrics that leave this machine are encrypted, and for authorized clients only. That includes
// addresses that might leave it.
func TestMetricsOptions(t *testing.T) {
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
		})
	}
}

func TestMetricsOnLoopbackAreForAll(t *testing.T) {
	address := serveMetrics(t, "127.0.0.1:0", &rest.Config{})

	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Get("http://" + address + "/metrics")

	must(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	for _, want := range []string{"go_goroutines ", "tdset_transition_lag_seconds_count "} { // Go's, and our own
		if response.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("got the status %d, want 200 and %s:\n%s", response.StatusCode, want, body)
		}
	}
}

// serveMetrics serves metrics at address until the test ends, and returns an address to read them
// at.
func serveMetrics(t *testing.T, address string, config *rest.Config) string {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	options := metricsserver.Options{BindAddress: address}
	secureMetrics(&options)
	server, err := metricsserver.NewServer(options, config, httpClient)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan error)
	go func() { stopped <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-stopped)
	})
	var port string
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, port, err = net.SplitHostPort(server.(interface{ GetBindAddr() string }).GetBindAddr())
		return err == nil, nil
	})
	must(t, err)
	return net.JoinHostPort("127.0.0.1", port)
}
