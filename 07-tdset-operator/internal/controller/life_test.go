// The whole controller in a manager, with watches, a cache, validation and defaults.

package controller

import (
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The contract has a test for each promise. This one shows that SetupWithManager watches everything
// that matters: whatever happens here, only an event or a timer can tell the controller.
func TestLifeOfATDSet(t *testing.T) {
	c := newRealCluster(t)
	c.make(deploymentOf(aTDSet(), unowned, scaledTo(1)))
	c.start()
	hasReplicas := func(replicas int32) func() bool {
		return func() bool {
			return metav1.IsControlledBy(c.deployment(), c.tdset()) && replicasOf(c.deployment()) == replicas
		}
	}
	isReady := func() bool {
		ready := meta.FindStatusCondition(c.tdset().Status.Conditions, conditionReady)
		return ready != nil && ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == c.tdset().Generation
	}

	c.make(aTDSet(withService(80)))
	c.eventually("somebody else's Deployment has the name", func() bool {
		return meta.IsStatusConditionTrue(c.tdset().Status.Conditions, conditionDegraded) && c.service().Name != ""
	})
	must(t, c.api.Delete(t.Context(), c.deployment()))
	c.eventually("the name is free, so the TDSet gets its Deployment", hasReplicas(5))
	c.becomesAvailable()
	c.eventually("its Pods are available, so it is ready", isReady)

	must(t, c.api.Delete(t.Context(), c.service()))
	c.eventually("a deleted Service is created again", func() bool { return c.service().Name != "" })
	c.patch(c.deployment(), `{"spec":{"replicas":1}}`)
	c.eventually("replicas that were changed by hand are reverted", hasReplicas(5))

	c.clock.set(at(17, 0).Add(-50 * time.Millisecond))
	c.patch(c.tdset(), `{"metadata":{"annotations":{"look":"at the clock"}}}`)
	c.eventually("its window has ended, so the Deployment is scaled", hasReplicas(3))
	c.eventually("the transition is counted", func() bool { return testutil.CollectAndCount(transitions) > 0 })
	checkQueries(t)

	pod := podOf(c.tdset())
	pod.Spec.NodeName = "a-node" // so that it isn't deleted at once
	c.make(pod)
	must(t, c.api.Delete(t.Context(), c.tdset()))
	c.eventually("it is being deleted, so the Deployment is scaled to zero", hasReplicas(0))
	c.becomesAvailable()
	pod.Namespace = c.namespace
	must(t, c.api.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	c.eventually("its last Pod is gone, and so is the TDSet", func() bool { return c.tdset().Name == "" })
}
