// The controller's parts, and the settings of the manager. Metrics are left out, because they would
// be the same as in the chapter.

package main

import (
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlcontroller "sigs.k8s.io/controller-runtime/pkg/controller"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	client.Client               // reads from the manager's cache, writes to the API server
	APIReader     client.Reader // reads from the API server
	Recorder      events.EventRecorder
	clock         clock.PassiveClock
}

// managerOptions returns the settings of a manager for the TDSets in o.namespace; "" means all
// namespaces.
func managerOptions(o options) (ctrl.Options, error) {
	o.Scheme = runtime.NewScheme()
	if err := errors.Join(scheme.AddToScheme(o.Scheme), addToScheme(o.Scheme)); err != nil {
		return ctrl.Options{}, err
	}
	o.LeaderElectionID = "tdset-controller"
	o.Metrics.BindAddress = "0" // none; the default is port 8080
	o.Cache.ReaderFailOnMissingInformer = true
	// No resync, because Reconcile knows when a TDSet's desired state changes. By default there is
	// a resync every ten hours.
	o.Cache.SyncPeriod = new(time.Duration(0))
	if o.namespace != "" {
		o.Cache.DefaultNamespaces = map[string]cache.Config{o.namespace: {}}
	}
	return o.Options, nil
}

// controllerOptions returns the settings of the controller. Failing keys are retried after 5 ms,
// then 10, 20 and so on, up to a minute. By default, it is up to 17 minutes, so a Deployment could
// be scaled that late.
func controllerOptions() ctrlcontroller.Options {
	return ctrlcontroller.Options{
		MaxConcurrentReconciles: 2,
		RateLimiter:             workqueue.NewTypedItemExponentialFailureRateLimiter[ctrl.Request](5*time.Millisecond, time.Minute),
	}
}
