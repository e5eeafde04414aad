// The servers for metrics and probes, and the shutdown. This file is here for production and is the same in chapters
// 06 and 07, so read it last.

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"flag"
	"net"
	"net/http"
	"path/filepath"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
)

// shutdownTimeout is how long a shutdown may take. The kubelet kills a Pod after its
// terminationGracePeriodSeconds.
const shutdownTimeout = 20 * time.Second

// certificate names the files of a server's certificate. The server reads them again when they
// change.
type certificate struct{ path, name, key string }

func (c *certificate) addFlags(server, ifEmpty string) {
	flag.StringVar(&c.path, server+"-cert-path", "", "folder of the "+server+" server's certificate; "+ifEmpty)
	flag.StringVar(&c.name, server+"-cert-name", "tls.crt", "name of the certificate's file in it")
	flag.StringVar(&c.key, server+"-cert-key", "tls.key", "name of its key's file")
}

func (c *certificate) load() (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(c.path, c.name), filepath.Join(c.path, c.key))
}

// secureMetrics serves metrics by HTTPS and to authorized clients only, unless the address is a
// loopback address. The API server says who a client is, and whether it may GET /metrics.
func secureMetrics(options *metricsserver.Options, cert certificate) {
	host, _, _ := net.SplitHostPort(options.BindAddress)
	if options.BindAddress == "0" || net.ParseIP(host).IsLoopback() {
		return
	}
	options.SecureServing = true
	options.CertDir, options.CertName, options.KeyName = cert.path, cert.name, cert.key
	options.TLSOpts = []func(*tls.Config){withoutHTTP2}
	options.FilterProvider = filters.WithAuthenticationAndAuthorization
}

// withoutHTTP2 restricts a server to HTTP/1.1, which is enough for Prometheus and the API server. In
// HTTP/2, any client can keep a server busy by opening and resetting streams (Rapid Reset).
func withoutHTTP2(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }

// addProbes makes mgr answer probes. It is ready when its caches are synced.
func addProbes(mgr ctrl.Manager) error {
	cacheSynced := func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second/2)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the caches aren't synced yet")
		}
		return nil
	}
	return errors.Join(mgr.AddHealthzCheck("ping", healthz.Ping), mgr.AddReadyzCheck("cache", cacheSynced))
}

// start runs mgr until ctx ends. A manager whose caches aren't synced yet never returns, but loops
// (controller-runtime 0.25.2, runnableGroup.Start). It has no work then, so don't wait for it.
func start(ctx context.Context, mgr ctrl.Manager) error {
	synced, stopped := make(chan struct{}), make(chan error, 1)
	if err := mgr.Add(afterSync(func() { close(synced) })); err != nil {
		return err
	}
	go func() { stopped <- mgr.Start(ctx) }()
	select {
	case err := <-stopped:
		return err
	case <-ctx.Done():
	}
	select {
	case <-synced:
		return <-stopped
	default:
		return nil
	}
}

// afterSync is called as soon as the caches are synced, whether this replica leads or not.
type afterSync func()

func (f afterSync) Start(context.Context) error { f(); return nil }

func (afterSync) NeedLeaderElection() bool { return false }
