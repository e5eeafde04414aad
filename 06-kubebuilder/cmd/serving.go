// The servers for webhooks, metrics and probes.

package main

import (
	"crypto/tls"
	"errors"
	"net"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// addProbes makes mgr answer probes. With webhooks, mgr is ready only once they are served. Until
// then, the Service sends it no requests.
func addProbes(mgr ctrl.Manager) error {
	err := errors.Join(mgr.AddHealthzCheck("healthz", healthz.Ping), mgr.AddReadyzCheck("readyz", healthz.Ping))
	if webhooksEnabled() {
		err = errors.Join(err, mgr.AddReadyzCheck("webhooks", mgr.GetWebhookServer().StartedChecker()))
	}
	return err
}

// secureMetrics serves metrics by HTTPS and to authorized clients only, unless the address is a
// loopback address. The API server says who a client is, and whether it may GET /metrics.
func secureMetrics(options *metricsserver.Options) {
	host, _, _ := net.SplitHostPort(options.BindAddress)
	if options.BindAddress == "0" || net.ParseIP(host).IsLoopback() {
		return
	}
	options.SecureServing = true
	options.TLSOpts = []func(*tls.Config){withoutHTTP2}
	options.FilterProvider = filters.WithAuthenticationAndAuthorization
}

// withoutHTTP2 restricts a server to HTTP/1.1, which is enough for Prometheus and the API server. In
// HTTP/2, any client can keep a server busy by opening and resetting streams (Rapid Reset).
func withoutHTTP2(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }
