// A running controller: with its queue and timers, as in a manager, but in a synctest bubble with
// simulated time. The cluster is a fake client, and each change causes an event.

package controller

import (
	"context"
	"fmt"
	"sync"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// beginAt sets the clock, which runs on from there.
func (c *cluster) beginAt(zone, text string) time.Time {
	c.t.Helper()
	location, err := time.LoadLocation(zone)
	must(c.t, err)
	now, err := time.ParseInLocation(time.DateTime, text, location)
	must(c.t, err)
	c.running.set(now)
	if c.Clock != clock.PassiveClock(&c.running) { // otherwise the running controller may be reading it
		c.zone, c.Clock = location, &c.running
	}
	return now
}

// waitUntil waits until an instant, and until the controller has no more work by then.
func (c *cluster) waitUntil(instant time.Time) {
	time.Sleep(-c.Clock.Since(instant))
	synctest.Wait()
}

// run runs a controller with this reconciler until the test ends, or stop is called. Its cache is
// always up to date, and a Deployment's Pods become available at once.
func (c *cluster) run(reconciler reconcile.Reconciler) (stop func()) {
	c.t.Helper()
	c.cache = c.server
	options := controllerOptions()
	options.Reconciler, options.SkipNameValidation, options.MaxConcurrentReconciles = reconciler, new(true), 1
	runner, err := controller.NewUnmanaged("test", options)
	must(c.t, err)
	must(c.t, runner.Watch(source.Func(func(ctx context.Context, queue queue) error {
		for _, list := range []client.ObjectList{&schedulev2.TDSetList{}, &appsv1.DeploymentList{}, &corev1.ServiceList{}} {
			stream, err := c.server.Watch(ctx, list)
			if err != nil {
				return err
			}
			context.AfterFunc(ctx, stream.Stop)
			go func() {
				var known client.Object
				for event := range stream.ResultChan() {
					c.seen(event)
					if object := event.Object.(client.Object); enqueues(known, object) {
						queue.Add(reconcile.Request{NamespacedName: client.ObjectKeyFromObject(object)})
					}
					known = event.Object.(client.Object)
				}
			}()
		}
		queue.Add(reconcile.Request{NamespacedName: web}) // for existing objects
		return nil
	})))
	ctx, cancel := context.WithCancel(c.t.Context())
	ended := make(chan error)
	go func() { ended <- runner.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		must(c.t, <-ended)
	})
	c.t.Cleanup(stop)
	return stop
}

// enqueues applies SetupWithManager's predicates to an update.
func enqueues(old, new client.Object) bool {
	if _, ok := old.(*schedulev2.TDSet); !ok {
		return true
	}
	return ignoreRepeatedRefusals.Update(event.UpdateEvent{ObjectOld: old, ObjectNew: new})
}

// seen records the scaling of the Deployment, and acts as the Deployment controller.
func (c *cluster) seen(event watch.Event) {
	deployment, ok := event.Object.(*appsv1.Deployment)
	if !ok || event.Type == watch.Deleted {
		return
	}
	if replicas := replicasOf(deployment); len(c.scaled) == 0 || replicas != c.replicas {
		c.scaled = append(c.scaled, fmt.Sprintf("%s: %d", c.Clock.Now().In(c.zone).Format("15:04:05 MST"), replicas))
		c.replicas = replicas
	}
	if !rolledOut(deployment) {
		c.becomesAvailable(deployment)
	}
}
