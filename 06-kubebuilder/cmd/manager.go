// The manager: it has the cache, the client that reads from it, the leader election and the servers for metrics, probes and webhooks,
// and starts and stops all that is added to it, in the right order.

package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

const (
	leaseName       = "foo-controller"
	shutdownTimeout = 20 * time.Second // how long the end may take: work that is under way is told to stop, and waited for
)

// newManager returns a manager without a controller yet.
func newManager(config *rest.Config, o options) (ctrl.Manager, error) {
	shutdown := shutdownTimeout
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Cache:                   cacheOptions(o),
		Metrics:                 metricsOptions(o.metricsAddress, o.metricsCert),
		WebhookServer:           newWebhookServer(o),
		HealthProbeBindAddress:  o.probeAddress,
		GracefulShutdownTimeout: &shutdown,

		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.election.namespace,
		LeaderElectionReleaseOnCancel: true, // run returns right after the manager has stopped, and the program ends
		LeaseDuration:                 &o.election.leaseDuration,
		RenewDeadline:                 &o.election.renewDeadline,
		RetryPeriod:                   &o.election.retryPeriod,
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, err
	}
	return mgr, mgr.AddReadyzCheck("cache", func(request *http.Request) error {
		ctx, cancel := context.WithTimeout(request.Context(), time.Second/2)
		defer cancel()
		if !mgr.GetCache().WaitForCacheSync(ctx) {
			return errors.New("the cache isn't filled yet")
		}
		return nil
	})
}

// start runs mgr until ctx ends. A manager that is still filling its cache doesn't hear of that: it goes round and round
// (controller-runtime 0.25.2, runnableGroup.Start). Nothing has begun by then, so there is nothing to wait for.
func start(ctx context.Context, mgr ctrl.Manager) error {
	begun, ended := make(chan struct{}), make(chan error, 1)
	if err := mgr.Add(onceFilled(func() { close(begun) })); err != nil {
		return err
	}
	go func() { ended <- mgr.Start(ctx) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	select {
	case <-begun:
		return <-ended
	default:
		return nil
	}
}

// onceFilled is called as soon as the manager's cache is filled, whether this copy leads or not.
type onceFilled func()

func (f onceFilled) Start(context.Context) error { f(); return nil }

func (onceFilled) NeedLeaderElection() bool { return false }

// cacheOptions says what the cache keeps: Foos and Deployments, as soon as the controller watches them.
func cacheOptions(o options) cache.Options {
	options := cache.Options{
		DefaultWatchErrorHandler: watchErrorHandler,
		// A read of any other type is an error. By default it would start another watch, for good: of all the cluster's Secrets, say.
		ReaderFailOnMissingInformer: true,
		// Who owns which field is the API server's concern: here it would only take memory.
		DefaultTransform: cache.TransformStripManagedFields(),
	}
	if o.namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	if o.resync > 0 {
		options.SyncPeriod = &o.resync
	}
	return options
}

// metricsOptions serves metrics to this machine as they are, and to others only by HTTPS and if they may: the API server is asked who
// they are, and whether they may GET /metrics.
func metricsOptions(address string, cert certificate) metricsserver.Options {
	options := metricsserver.Options{BindAddress: address}
	host, _, _ := net.SplitHostPort(address)
	if address != "0" && !net.ParseIP(host).IsLoopback() {
		options.SecureServing = true
		options.CertDir, options.CertName, options.KeyName = cert.path, cert.name, cert.key
		options.TLSOpts = []func(*tls.Config){withoutHTTP2}
		options.FilterProvider = filters.WithAuthenticationAndAuthorization
	}
	return options
}

// withoutHTTP2 leaves a server with HTTP/1.1: whoever may connect could keep it busy by opening streams and resetting them (the
// attack is called Rapid Reset), and neither Prometheus nor the API server need more.
func withoutHTTP2(config *tls.Config) { config.NextProtos = []string{"http/1.1"} }

// waitForCRD returns when the server knows Foos, or ctx ends. Without it, the indexes couldn't be made, and the program would end.
func waitForCRD(ctx context.Context, mapper meta.RESTMapper) error {
	kind := v1alpha1.GroupVersion.WithKind("Foo")
	said := ""
	return wait.PollUntilContextCancel(ctx, 2*time.Second, true, func(context.Context) (bool, error) {
		_, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		say := ""
		switch {
		case meta.IsNoMatchError(err):
			say = "Waiting: the server doesn't know this resource: is the CRD applied?"
		case err != nil:
			say = "Waiting: the server doesn't say what it knows"
		}
		if say != "" && say != said {
			klog.InfoS(say, "kind", kind.Kind, "err", err)
		}
		said = say
		return err == nil, nil
	})
}
