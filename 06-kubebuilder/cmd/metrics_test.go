// To whom metrics are served, and how. Those for others than this machine are asked for in installed_test.go, where there is an API
// server that says who may read them.

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

// What leaves this machine is encrypted, and for those who may read it. In doubt, too.
func TestMetricsOptions(t *testing.T) {
	for address, wantSecure := range map[string]bool{
		"0": false, // nowhere

		"127.0.0.1:0":    false,
		"127.0.0.2:8080": false,
		"[::1]:0":        false,

		":8443":              true,
		"0.0.0.0:8443":       true,
		"[::]:8443":          true,
		"10.0.0.1:8443":      true,
		"localhost:8080":     true, // a name, which may lead anywhere
		"[fe80::1%eth0]:443": true,
		"":                   true, // controller-runtime takes it for :8080
		"8080":               true,
		"127.0.0.1":          true,
	} {
		t.Run(address, func(t *testing.T) {
			got := metricsserver.Options{BindAddress: address}
			secureMetrics(&got)
			if got.BindAddress != address || got.SecureServing != wantSecure || (got.FilterProvider != nil) != wantSecure {
				t.Errorf("served at %q, by HTTPS: %v, with a filter: %v; want at %q, and both: %v",
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
	if response.StatusCode != http.StatusOK || !strings.Contains(string(body), "go_goroutines ") {
		t.Errorf("the answer is %d:\n%s", response.StatusCode, body)
	}
}

// serveMetrics serves them at address until the test ends, and returns how to get there on this machine.
func serveMetrics(t *testing.T, address string, config *rest.Config) string {
	t.Helper()
	httpClient, err := rest.HTTPClientFor(config)
	must(t, err)
	options := metricsserver.Options{BindAddress: address}
	secureMetrics(&options)
	server, err := metricsserver.NewServer(options, config, httpClient)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- server.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-ended)
	})
	var port string
	err = wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, port, err = net.SplitHostPort(server.(interface{ GetBindAddr() string }).GetBindAddr())
		return err == nil, nil
	})
	must(t, err)
	return net.JoinHostPort("127.0.0.1", port)
}
