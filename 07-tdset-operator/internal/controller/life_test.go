// The whole controller in a manager, on a real API server, with watches, a cache, validation and
// defaults. No other controller runs, so the tests set when a Deployment is available and when a
// Pod has stopped. Nothing is garbage collected, so they check owner references.

package controller

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestLifeOfATDSet(t *testing.T) {
	c := newBareCluster(t)
	c.start(2)

	tdset := c.createTDSet(example)
	c.eventually("a new TDSet has its Deployment, and the status reports it", c.status("9-17: RollingOut, AsExpected"))
	deployment := c.deployment(t.Context())
	if !metav1.IsControlledBy(deployment, tdset) || !deploymentUpToDate(deployment, desiredDeployment(tdset, 5)) {
		t.Errorf("the Deployment isn't as the TDSet asks: %+v", deployment)
	}
	c.becomesAvailable()
	c.eventually("the rollout is complete when the Pods are available", c.status("9-17: RolledOut, AsExpected"))
	c.eventually("there is one event", func(ctx context.Context) bool { return c.recorded(ctx, "Scaled") == 1 })

	c.setClockJustBefore(at(17, 0))
	c.eventually("the Deployment is scaled when the window ends", c.hasReplicas(3))
	c.eventually("the status reports the new window", c.status("17-19: RollingOut, AsExpected"))
	if next := c.tdset(t.Context()).Status.NextTransitionTime; next == nil || !next.Time.Equal(at(19, 0)) {
		t.Errorf("nextTransitionTime is %v, want 19:00", next)
	}
	c.becomesAvailable()
	c.eventually("the rollout is complete again", c.status("17-19: RolledOut, AsExpected"))

	c.change(`{"container":{"image":"nginx:2.0"}}`)
	c.eventually("a new image is rolled out", func(ctx context.Context) bool {
		return c.deployment(ctx).Spec.Template.Spec.Containers[0].Image == "nginx:2.0"
	})
	c.eventually("the status reports the rollout", c.status("17-19: RollingOut, AsExpected"))

	c.change(`{"service":{"port":80}}`)
	c.eventually("a Service is created", c.listensOn(80))
	service := c.service(t.Context())
	if !metav1.IsControlledBy(service, tdset) || !serviceUpToDate(service, desiredService(c.tdset(t.Context()))) {
		t.Errorf("the Service isn't as the TDSet asks: %+v", service)
	}
	c.change(`{"service":{"port":81}}`)
	c.eventually("the Service's port is updated", c.listensOn(81))
	c.patch(&corev1.Service{}, "web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"ports":[{"name":"theirs","port":90}]}}`)
	c.eventually("a manual change of the port is reverted", c.listensOn(81))
	c.patch(&corev1.Service{}, "web", `{"spec":{"selector":{"app":"other"}}}`)
	c.eventually("a manual change of the selector is reverted", func(ctx context.Context) bool { return c.service(ctx).Spec.Selector["app"] == "web" })
	c.patch(&corev1.Service{}, "web", `{"spec":{"selector":{"version":"v2"}}}`)
	c.eventually("a manually narrowed selector is reverted", func(ctx context.Context) bool { return c.service(ctx).Spec.Selector["version"] == "" })
	if service = c.service(t.Context()); service.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost, got %v", service.Annotations)
	}
	c.change(`{"service":null}`)
	c.eventually("a Service that the TDSet no longer asks for is deleted", func(ctx context.Context) bool { return c.service(ctx).Name == "" })

	c.patch(c.deployment(t.Context()), "web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":1}}`)
	c.eventually("a manual scale is reverted", c.hasReplicas(3))
	if deployment = c.deployment(t.Context()); deployment.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost, got %v", deployment.Annotations)
	}
	must(t, c.users.Delete(t.Context(), deployment))
	c.eventually("a deleted Deployment is created again", func(ctx context.Context) bool {
		now := c.deployment(ctx)
		return now.Name != "" && now.UID != deployment.UID
	})
}

func TestDeletionOfATDSet(t *testing.T) {
	c := newBareCluster(t)
	c.start(2)
	tdset := c.createTDSet(example)
	c.eventually("the TDSet has its Deployment", c.status("9-17: RollingOut, AsExpected"))
	c.becomesAvailable()
	pod, another := podWithContainer(tdset), podWithContainer(tdset)
	pod.Spec.NodeName, another.Spec.NodeName, another.Name = "a-node", "a-node", "web-y8"
	c.makeByHand(pod)
	c.makeByHand(another)

	must(t, c.users.Delete(t.Context(), tdset))
	c.eventually("the Deployment is scaled to zero", c.hasReplicas(0))
	c.becomesAvailable()
	must(t, c.users.Delete(t.Context(), pod)) // it is terminating, because it has a node
	must(t, c.users.Status().Update(t.Context(), evicted(another)))
	c.settles()
	if c.tdset(t.Context()).Name == "" {
		t.Fatal("the TDSet is gone, but a Pod is still running")
	}

	must(t, c.users.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	c.eventually("the TDSet is gone after its last Pod", func(ctx context.Context) bool { return c.tdset(ctx).Name == "" })
	c.eventually("there is one event", func(ctx context.Context) bool { return c.recorded(ctx, "Drained") == 1 })
	if left := c.deployment(t.Context()); !metav1.IsControlledBy(left, tdset) {
		t.Errorf("the Deployment has the owner references %+v, want the TDSet's, for the garbage collector", left.OwnerReferences)
	}
}

func TestATakenName(t *testing.T) {
	c := newBareCluster(t)
	c.start(2)
	theirs := deploymentOf(aTDSet(), unowned, scaledTo(1))
	c.makeByHand(theirs)

	c.createTDSet(example)
	const refused = "9-17: ErrResourceExists, ErrResourceExists"
	c.eventually("the status reports the taken name", c.status(refused))
	c.eventually("there is one event", func(ctx context.Context) bool { return c.recorded(ctx, "ErrResourceExists") == 1 })
	c.setClockJustBefore(at(17, 0))
	c.eventually("its window ends", c.status("17-19: ErrResourceExists, ErrResourceExists"))
	c.patch(c.deployment(t.Context()), "web", `{"metadata":{"annotations":{"still":"mine"}}}`)
	c.settles()
	if taken := c.deployment(t.Context()); !equality.Semantic.DeepEqual(taken.Spec, theirs.Spec) || len(taken.OwnerReferences) > 0 {
		t.Errorf("somebody else's Deployment was changed: %+v", taken)
	}
	if got := c.recorded(t.Context(), "ErrResourceExists"); got != 1 {
		t.Errorf("got %d events, want 1", got)
	}

	must(t, c.users.Delete(t.Context(), c.deployment(t.Context())))
	c.eventually("the TDSet gets its Deployment once the name is free", c.hasReplicas(3))
	c.eventually("the status reports it", c.status("17-19: RollingOut, AsExpected"))
}

func (c *realCluster) hasReplicas(replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		deployment := c.deployment(ctx)
		return deployment.Name != "" && replicasOf(deployment) == replicas
	}
}

// listensOn reports whether the Service has that port, and no other.
func (c *realCluster) listensOn(port int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		service := c.service(ctx)
		return len(service.Spec.Ports) == 1 && service.Spec.Ports[0].Port == port && service.Spec.Ports[0].TargetPort.IntValue() == 8080
	}
}

// recorded counts the events with a reason that are about the TDSet.
func (c *realCluster) recorded(ctx context.Context, reason string) (count int) {
	var events eventsv1.EventList
	must(c.t, c.users.List(ctx, &events, client.InNamespace(c.namespace)))
	for _, event := range events.Items {
		if event.Regarding.Kind == "TDSet" && event.Regarding.Name == "web" && event.Reason == reason {
			count++
			if event.Series != nil {
				count += int(event.Series.Count)
			}
		}
	}
	return count
}
