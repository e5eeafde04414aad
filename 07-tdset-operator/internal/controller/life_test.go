// The whole on a real API server, as the manager runs it: events come by watches, reads from the
// cache, and what is written is validated and defaulted. No other controller is there, so the tests
// say when a Deployment is available and when a Pod has ended, and nothing is collected: they look
// at what the garbage collector would go by.

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
	c.eventually("a new TDSet has its Deployment, and says so", c.says("9-17: RollingOut, AsExpected"))
	deployment := c.deployment(t.Context())
	if !metav1.IsControlledBy(deployment, tdset) || !deploymentUpToDate(deployment, desiredDeployment(tdset, 5)) {
		t.Errorf("the Deployment isn't what the TDSet wants: %+v", deployment)
	}
	c.becomesAvailable()
	c.eventually("all is well when the Pods are there", c.says("9-17: RolledOut, AsExpected"))
	c.eventually("its users are told, once", func(ctx context.Context) bool { return c.recorded(ctx, "Scaled") == 1 })

	c.soonItIs(at(17, 0))
	c.eventually("when the window ends, the Deployment is scaled", c.hasReplicas(3))
	c.eventually("and the status says so", c.says("17-19: RollingOut, AsExpected"))
	if next := c.tdset(t.Context()).Status.NextTransitionTime; next == nil || !next.Time.Equal(at(19, 0)) {
		t.Errorf("the next transition is at %v, want 19:00", next)
	}
	c.becomesAvailable()
	c.eventually("all is well again", c.says("17-19: RolledOut, AsExpected"))

	c.change(`{"container":{"image":"nginx:2.0"}}`)
	c.eventually("another image is rolled out", func(ctx context.Context) bool {
		return c.deployment(ctx).Spec.Template.Spec.Containers[0].Image == "nginx:2.0"
	})
	c.eventually("and the status is about that", c.says("17-19: RollingOut, AsExpected"))

	c.change(`{"service":{"port":80}}`)
	c.eventually("a Service that is asked for is made", c.listensOn(80))
	service := c.service(t.Context())
	if !metav1.IsControlledBy(service, tdset) || !serviceUpToDate(service, desiredService(c.tdset(t.Context()))) {
		t.Errorf("the Service isn't what the TDSet wants: %+v", service)
	}
	c.change(`{"service":{"port":81}}`)
	c.eventually("its port follows", c.listensOn(81))
	c.patch(&corev1.Service{}, "web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"ports":[{"name":"theirs","port":90}]}}`)
	c.eventually("a port that was edited by hand is put back", c.listensOn(81))
	c.patch(&corev1.Service{}, "web", `{"spec":{"selector":{"app":"other"}}}`)
	c.eventually("and so is the selector", func(ctx context.Context) bool { return c.service(ctx).Spec.Selector["app"] == "web" })
	c.patch(&corev1.Service{}, "web", `{"spec":{"selector":{"version":"v2"}}}`)
	c.eventually("also if it was narrowed", func(ctx context.Context) bool { return c.service(ctx).Spec.Selector["version"] == "" })
	if service = c.service(t.Context()); service.Annotations["team"] != "blue" {
		t.Errorf("somebody's annotation is lost: %v", service.Annotations)
	}
	c.change(`{"service":null}`)
	c.eventually("a Service that isn't asked for any more is gone", func(ctx context.Context) bool { return c.service(ctx).Name == "" })

	c.patch(c.deployment(t.Context()), "web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":1}}`)
	c.eventually("a Deployment that was scaled by hand is put back", c.hasReplicas(3))
	if deployment = c.deployment(t.Context()); deployment.Annotations["team"] != "blue" {
		t.Errorf("somebody's annotation is lost: %v", deployment.Annotations)
	}
	must(t, c.users.Delete(t.Context(), deployment))
	c.eventually("a deleted Deployment is made again", func(ctx context.Context) bool {
		now := c.deployment(ctx)
		return now.Name != "" && now.UID != deployment.UID
	})
}

func TestTheEndOfATDSet(t *testing.T) {
	c := newBareCluster(t)
	c.start(2)
	tdset := c.createTDSet(example)
	c.eventually("it has its Deployment", c.says("9-17: RollingOut, AsExpected"))
	c.becomesAvailable()
	pod, another := podWithContainer(tdset), podWithContainer(tdset)
	pod.Spec.NodeName, another.Spec.NodeName, another.Name = "a-node", "a-node", "web-y8"
	c.makeByHand(pod)
	c.makeByHand(another)

	must(t, c.users.Delete(t.Context(), tdset))
	c.eventually("the Deployment is scaled to zero", c.hasReplicas(0))
	c.becomesAvailable()
	must(t, c.users.Delete(t.Context(), pod)) // its node lets it end in its time
	must(t, c.users.Status().Update(t.Context(), evicted(another)))
	c.settles()
	if c.tdset(t.Context()).Name == "" {
		t.Fatal("the TDSet is gone, and a Pod is still at work")
	}

	must(t, c.users.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	c.eventually("the TDSet goes with its last Pod", func(ctx context.Context) bool { return c.tdset(ctx).Name == "" })
	c.eventually("its users are told, once", func(ctx context.Context) bool { return c.recorded(ctx, "Drained") == 1 })
	if left := c.deployment(t.Context()); !metav1.IsControlledBy(left, tdset) {
		t.Errorf("its Deployment is the garbage collector's, which goes by the owner reference: %+v", left.OwnerReferences)
	}
}

func TestANameThatIsTaken(t *testing.T) {
	c := newBareCluster(t)
	c.start(2)
	theirs := deploymentOf(aTDSet(), unowned, scaledTo(1))
	c.makeByHand(theirs)

	c.createTDSet(example)
	const refused = "9-17: ErrResourceExists, ErrResourceExists"
	c.eventually("the TDSet says that the name is taken", c.says(refused))
	c.eventually("its users are told, once", func(ctx context.Context) bool { return c.recorded(ctx, "ErrResourceExists") == 1 })
	c.soonItIs(at(17, 0))
	c.eventually("its window ends", c.says("17-19: ErrResourceExists, ErrResourceExists"))
	c.patch(c.deployment(t.Context()), "web", `{"metadata":{"annotations":{"still":"mine"}}}`)
	c.settles()
	if taken := c.deployment(t.Context()); !equality.Semantic.DeepEqual(taken.Spec, theirs.Spec) || len(taken.OwnerReferences) > 0 {
		t.Errorf("somebody else's Deployment was touched: %+v", taken)
	}
	if got := c.recorded(t.Context(), "ErrResourceExists"); got != 1 {
		t.Errorf("users were told %d times", got)
	}

	must(t, c.users.Delete(t.Context(), c.deployment(t.Context())))
	c.eventually("the TDSet takes the name when it is free", c.hasReplicas(3))
	c.eventually("and says so", c.says("17-19: RollingOut, AsExpected"))
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
