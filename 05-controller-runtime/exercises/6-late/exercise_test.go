//go:build check || solution

// These tests check when Foos get their Deployments and their status. The program's manager, with
// its own cache, queue and workers, runs in a bubble of testing/synctest, where minutes pass at
// once. The API server is the fake client (cluster_test.go). No Deployment becomes available unless
// a test says so.
//
// As given, some Foos are late. `workshop test` checks these failures:
//
// fails: TestNeighbours/a new Foo gets its Deployment
// says: ten minutes later, it still isn't true that the Foo cart
//
// fails: TestNeighbours/a Foo is scaled
// says: ten minutes later, it still isn't true that the Foo cart
//
// fails: TestNeighbours/a Deployment that somebody deleted is created again
// says: ten minutes later, it still isn't true that the Foo cart
//
// fails: TestNeighbours/a Foo is Ready when its Deployment is available
// says: ten minutes later, it still isn't true that the Foo cart
//
// fails: TestNeighbours/a Foo isn't Ready any more when its Pods are lost
// says: ten minutes later, it still isn't true that the Foo cart
//
// fails: TestOneFoo/is scaled before its Deployment is available
// says: later, the Foo cart has a Deployment for 3 replicas
//
// fails: TestNothingHappens/in an hour
// says: times in an hour, while the Deployment wasn't available
//
// fails: TestReconcile/its Deployment isn't available
// says: Reconcile took 2m0s
//
// fails: TestReconcile/the cache doesn't have its Deployment yet
// says: Reconcile took 2m0s

package main

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// soon is how long the user of a Foo is willing to wait.
const soon = time.Second

// step is something that happens, and what must be true of the Foo soon after it.
type step struct {
	happens func(*cluster)
	want    condition
}

func TestOneFoo(t *testing.T) {
	for sentence, steps := range map[string][]step{
		"gets its Deployment": {
			{createFoo, hasReplicas(1)},
		},
		"isn't Ready before its Deployment is available": {
			{createFoo, hasReplicas(1)},
			{waitTenSeconds, hasReason(reasonProgressing)},
		},
		"is Ready when its Deployment is available": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
		},
		"is Ready when its Deployment is available after all, half an hour later": {
			{createFoo, hasReplicas(1)},
			{waitHalfAnHour, hasReason(reasonProgressing)},
			{makeAvailable, hasReason(reasonAvailable)},
		},
		"isn't Ready any more when its Pods are lost": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
			{losePods, hasReason(reasonProgressing)},
		},
		"is scaled": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
			{scaleFoo, hasReplicas(3)},
		},
		"is scaled before its Deployment is available": {
			{createFoo, hasReplicas(1)},
			{waitTenSeconds, hasReason(reasonProgressing)},
			{scaleFoo, hasReplicas(3)},
		},
		"reports how many replicas are available": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasAvailable(1)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			inACluster(t, func(c *cluster) { c.follow(steps) })
		})
	}
}

// Twelve other Foos have Deployments that never become available. The Foo cart is none of them.
func TestNeighbours(t *testing.T) {
	for sentence, steps := range map[string][]step{
		"a new Foo gets its Deployment": {
			{createOthers, hasNoDeployment},
			{createFoo, hasReplicas(1)},
		},
		"a Foo is scaled": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
			{createOthers, hasReplicas(1)},
			{scaleFoo, hasReplicas(3)},
		},
		"a Deployment that somebody deleted is created again": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
			{createOthers, hasReplicas(1)},
			{deleteDeployment, hasReplicas(1)},
		},
		"a Foo is Ready when its Deployment is available": {
			{createOthers, hasNoDeployment},
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
		},
		"a Foo isn't Ready any more when its Pods are lost": {
			{createFoo, hasReplicas(1)},
			{makeAvailable, hasReason(reasonAvailable)},
			{createOthers, hasReplicas(1)},
			{losePods, hasReason(reasonProgressing)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			inACluster(t, func(c *cluster) { c.follow(steps) })
		})
	}
}

// Writes fail now and then, and are retried.
func TestRefusedWrites(t *testing.T) {
	for sentence, steps := range map[string][]step{
		"of a new Deployment": {
			{func(c *cluster) { c.refusing("Deployment"); createFoo(c) }, hasNoDeployment},
			{waitTenSeconds, hasNoDeployment},
			{func(c *cluster) { c.refusing(""); waitTenSeconds(c) }, hasReplicas(1)},
		},
		"of the status": {
			{createFoo, hasReplicas(1)},
			{func(c *cluster) { c.refusing("Foo"); makeAvailable(c); waitTenSeconds(c) }, hasReason(reasonProgressing)},
			{func(c *cluster) { c.refusing(""); waitTenSeconds(c) }, hasReason(reasonAvailable)},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			inACluster(t, func(c *cluster) { c.follow(steps) })
		})
	}
}

// A Foo whose Deployment doesn't change gives the program no work.
func TestNothingHappens(t *testing.T) {
	for sentence, pause := range map[string]time.Duration{
		"in half a minute": 30 * time.Second,
		"in an hour":       time.Hour,
	} {
		t.Run(sentence, func(t *testing.T) {
			inACluster(t, func(c *cluster) {
				createFoo(c)
				time.Sleep(pause)
				synctest.Wait()
				// Three events lead to calls: those of the Foo, of the Deployment and of the status.
				if calls := c.reads("Foo"); calls > 5 {
					c.Errorf("Reconcile was called %d times %s, while the Deployment wasn't available and nothing changed: "+
						"which event tells the controller when the Deployment has changed?", calls, sentence)
				}
			})
		})
	}
}

// Reconcile is called here without a manager, so nothing but the call itself can take time.
func TestReconcile(t *testing.T) {
	for sentence, before := range map[string]func(*cluster){
		"its Deployment is available":               makeAvailable,
		"its Deployment isn't available":            waitTenSeconds,
		"the cache doesn't have its Deployment yet": (*cluster).fallBehind,
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster(t)
				createFoo(c)
				reconciler := &controller{Client: c.client()}
				call := func() error {
					_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.foo())})
					return err
				}
				call() // creates the Deployment
				before(c)

				start := time.Now()
				err := call()
				if took := time.Since(start); took > 100*time.Millisecond {
					c.Errorf("Reconcile took %v: what did its worker do in that time?", took)
				}
				if err != nil {
					c.Errorf("Reconcile returned the error %q: has anything failed?", err)
				}
				requests := c.requests()
				time.Sleep(time.Hour)
				synctest.Wait()
				if more := c.requests() - requests; more > 0 {
					c.Errorf("%d requests were sent after Reconcile had returned: who would stop them if the Foo is deleted, or when the program stops?", more)
				}
			})
		})
	}
}

// condition reports whether something is true of the Foo and its Deployment, which is nil if there
// is none.
type condition struct {
	words string
	holds func(*samplecontrollerv1alpha1.Foo, *appsv1.Deployment) bool
}

func hasReplicas(want int32) condition {
	return condition{fmt.Sprintf("has a Deployment for %d replicas", want), func(_ *samplecontrollerv1alpha1.Foo, d *appsv1.Deployment) bool {
		return d != nil && *d.Spec.Replicas == want
	}}
}

func hasReason(want string) condition {
	return condition{"has a condition Ready with the reason " + want, func(foo *samplecontrollerv1alpha1.Foo, _ *appsv1.Deployment) bool {
		return len(foo.Status.Conditions) == 1 && foo.Status.Conditions[0].Reason == want
	}}
}

func hasAvailable(want int32) condition {
	return condition{fmt.Sprintf("has the status that %d replicas are available", want), func(foo *samplecontrollerv1alpha1.Foo, _ *appsv1.Deployment) bool {
		return foo.Status.AvailableReplicas == want
	}}
}

var hasNoDeployment = condition{"has no Deployment", func(_ *samplecontrollerv1alpha1.Foo, d *appsv1.Deployment) bool { return d == nil }}

// follow takes the steps, and measures how long it takes until what they want is true.
func (c *cluster) follow(steps []step) {
	c.Helper()
	for i, step := range steps {
		step.happens(c)
		late := time.Duration(0)
		for ; late <= 10*time.Minute && !step.want.holds(c.foo(), c.deployment()); late += soon / 4 {
			pause(soon / 4)
		}
		switch {
		case late > 10*time.Minute:
			c.Errorf("step %d: ten minutes later, it still isn't true that the Foo cart %s: what was the program busy with?", i+1, step.want.words)
			return
		case late > soon:
			c.Errorf("step %d: only %v later, the Foo cart %s, want %v at most: what was the program busy with?", i+1, late, step.want.words, soon)
			return
		}
	}
}

func createFoo(c *cluster) { c.must(c.server.Create(context.Background(), newFoo("cart"))) }

func createOthers(c *cluster) {
	for i := range 12 {
		c.must(c.server.Create(context.Background(), newFoo(fmt.Sprintf("other-%d", i+1))))
	}
	pause(10 * time.Second)
}

func scaleFoo(c *cluster) {
	foo := c.foo()
	foo.Spec.Replicas = new(int32(3))
	c.must(c.server.Update(context.Background(), foo))
}

func makeAvailable(c *cluster) { c.setAvailable(*c.deployment().Spec.Replicas) }

func losePods(c *cluster) { c.setAvailable(0) }

func deleteDeployment(c *cluster) { c.must(c.server.Delete(context.Background(), c.deployment())) }

func waitTenSeconds(*cluster) { pause(10 * time.Second) }
func waitHalfAnHour(*cluster) { pause(30 * time.Minute) }

func pause(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
