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

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/selection"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/internal/controller"
)

const (
	leaseName       = "tdset-controller"
	shutdownTimeout = 20 * time.Second // how long the end may take: work that is under way is told to stop, and waited for
)

// newMapper returns what knows which resources the server has. It asks when it is asked, and remembers.
func newMapper(config *rest.Config) (meta.RESTMapper, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return apiutil.NewDynamicRESTMapper(config, client)
}

// newManager returns a manager without a controller yet. Making the cache, it asks mapper whether Pods are namespaced.
func newManager(config *rest.Config, mapper meta.RESTMapper, o options) (ctrl.Manager, error) {
	shutdown := shutdownTimeout
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		MapperProvider:          func(*rest.Config, *http.Client) (meta.RESTMapper, error) { return mapper, nil },
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

// cacheOptions says what the cache keeps: TDSets, Deployments, Services, and the metadata of TDSets' Pods.
func cacheOptions(o options) cache.Options {
	options := cache.Options{
		DefaultWatchErrorHandler: watchErrorHandler,
		// A read of any other type is an error. By default it would start another watch, for good: of all the cluster's Secrets, say.
		ReaderFailOnMissingInformer: true,
		// Who owns which field is the API server's concern: here it would only take memory.
		DefaultTransform: cache.TransformStripManagedFields(),
		// This goes by the kind, whether Pods are asked for as a whole or, as here, as their metadata. The controller wants to know only which
		// Pods there are, and of a big cluster's Pods few are TDSets'. One that finishes leaves the cache, as if it were deleted.
		ByObject: map[client.Object]cache.ByObject{&corev1.Pod{}: {Label: ofTDSets(), Field: unfinished}},
	}
	if o.namespace != "" {
		options.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	if o.resync > 0 {
		options.SyncPeriod = &o.resync
	}
	return options
}

// unfinished selects the Pods that are still at work. Evicted ones stay Failed, and nobody deletes them.
var unfinished = fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
)

// ofTDSets selects what has the label of TDSets' Pods, whichever TDSet's they are.
func ofTDSets() labels.Selector {
	exists, err := labels.NewRequirement(controller.TDSetLabel, selection.Exists, nil)
	utilruntime.Must(err) // it is a constant
	return labels.NewSelector().Add(*exists)
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

// waitForCRD returns when mapper knows TDSets, and all else that the controller watches, or ctx ends. Without them no informers could be
// made, and the program would end.
func waitForCRD(ctx context.Context, mapper meta.RESTMapper) error {
	said := ""
	return wait.PollUntilContextCancel(ctx, 2*time.Second, true, func(context.Context) (bool, error) {
		kind, err := missing(mapper)
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

// missing returns the first kind that the controller watches and mapper doesn't know, and why.
func missing(mapper meta.RESTMapper) (schema.GroupVersionKind, error) {
	for _, kind := range []schema.GroupVersionKind{
		v1.GroupVersion.WithKind("TDSet"), appsv1.SchemeGroupVersion.WithKind("Deployment"),
		corev1.SchemeGroupVersion.WithKind("Service"), corev1.SchemeGroupVersion.WithKind("Pod"),
	} {
		if _, err := mapper.RESTMapping(kind.GroupKind(), kind.Version); err != nil {
			return kind, err
		}
	}
	return schema.GroupVersionKind{}, nil
}
