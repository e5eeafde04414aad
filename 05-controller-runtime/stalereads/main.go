// Command stalereads does the experiment of chapter 03's program of that name with
// controller-runtime. It needs a cluster with the CRD of the Foos:
//
//	go run ./05-controller-runtime/stalereads --behind 1s
//
// This file has the controller. The others are those of chapter 03: measure.go has the experiment,
// wire.go makes the cache late, and table.go prints the result.
package main

import (
	"context"
	"fmt"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlconfig "sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func init() { utilruntime.Must(samplecontrollerv1alpha1.Install(scheme.Scheme)) }

func main() {
	ctrl.SetLogger(logr.Discard())
	compare(
		row{"controller-runtime's default", start(false, 4)},
		row{"EnableReadYourWritesConsistency", start(true, 4)},
		row{"the same with 20 workers", start(true, 20)},
	)
}

// start returns a function that starts a controller. With readYourWrites, its reads wait until the
// cache has the writes that came before.
func start(readYourWrites bool, workers int) starter {
	return func(ctx context.Context, config *rest.Config, namespace string) error {
		mgr, err := ctrl.NewManager(config, ctrl.Options{
			Metrics:    metricsserver.Options{BindAddress: "0"},
			Cache:      cache.Options{DefaultNamespaces: map[string]cache.Config{namespace: {}}},
			Client:     client.Options{Cache: &client.CacheOptions{EnableReadYourWritesConsistency: &readYourWrites}},
			Controller: ctrlconfig.Controller{MaxConcurrentReconciles: workers, SkipNameValidation: new(true)}, // all are called foo
		})
		if err != nil {
			return fmt.Errorf("manager: %w", err)
		}
		c := &controller{mgr.GetClient()}
		if err := ctrl.NewControllerManagedBy(mgr).For(&samplecontrollerv1alpha1.Foo{}).Owns(&corev1.Pod{}).Complete(c); err != nil {
			return fmt.Errorf("controller: %w", err)
		}
		ended := make(chan error, 1)
		go func() { ended <- mgr.Start(ctx) }()
		select {
		case <-mgr.Elected(): // the caches are filled
			return nil
		case err := <-ended:
			return err
		}
	}
}

// controller gives each Foo its Pods, and writes their number into the Foo's status. The server
// chooses the Pods' names.
type controller struct {
	client.Client // reads from the manager's cache, writes to the API server
}

// Reconcile is chapter 03's sync. It does nothing about a cache that is behind.
func (c *controller) Reconcile(ctx context.Context, req ctrl.Request) (ctrl.Result, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := c.Get(ctx, req.NamespacedName, foo); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(req.Namespace)); err != nil {
		return ctrl.Result{}, fmt.Errorf("list the Foo's Pods: %w", err)
	}
	found := 0
	for i := range pods.Items {
		if metav1.IsControlledBy(&pods.Items[i], foo) {
			found++
		}
	}
	for range int(*foo.Spec.Replicas) - found {
		pod := newPod(metav1.NewControllerRef(foo, fooKind))
		pod.Namespace = foo.Namespace
		if err := c.Create(ctx, pod); err != nil {
			return ctrl.Result{}, fmt.Errorf("create a Pod: %w", err)
		}
	}
	if foo.Status.AvailableReplicas == int32(found) {
		return ctrl.Result{}, nil
	}
	foo.Status.AvailableReplicas = int32(found)
	if err := c.Status().Update(ctx, foo); err != nil {
		return ctrl.Result{}, fmt.Errorf("update the status: %w", err)
	}
	return ctrl.Result{}, nil
}
