// Settings of the manager and the controller. Leader election, metrics and probes are left out,
// because they would be the same as in the chapter.

package main

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	schedulev1 "example.com/operators/05-controller-runtime/exercises/5-tdset/pkg/apis/schedule/v1"
)

// managerOptions returns the settings of a manager for the TDSets in namespace; "" means all
// namespaces.
func managerOptions(namespace string) (ctrl.Options, error) {
	types := runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(types), schedulev1.Install(types)); err != nil {
		return ctrl.Options{}, err
	}
	options := ctrl.Options{
		Scheme:  types,
		Metrics: metricsserver.Options{BindAddress: "0"}, // none; the default is port 8080
		Cache: cache.Options{
			ReaderFailOnMissingInformer: true,
			// No resync, because Reconcile knows when a TDSet's desired state changes. By default
			// there is a resync every ten hours.
			SyncPeriod: new(time.Duration(0)),
		},
	}
	if namespace != "" {
		options.Cache.DefaultNamespaces = map[string]cache.Config{namespace: {}}
	}
	return options, nil
}

// controllerOptions returns the settings of the controller. Failing keys are retried after 5 ms,
// then 10, 20 and so on, up to a minute. By default, it is up to 17 minutes, so a Deployment could
// be scaled that late.
func controllerOptions() controller.Options {
	return controller.Options{
		MaxConcurrentReconciles: 2,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](5*time.Millisecond, time.Minute),
	}
}
