// The whole controller on a real API server: events come from watches, reads from the cache, and
// the server validates and defaults each write. No other controller runs, so the tests make
// Deployments available, and check the owner references that the garbage collector would use.

package main

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

const example = `
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata: {name: example}
spec: {deploymentName: web, replicas: 2}
`

func TestLifeOfAFoo(t *testing.T) {
	c := newBareCluster(t)
	c.start()

	foo := c.create(example)
	c.eventually("a new Foo has its Deployment and a status", c.hasReason("Progressing"))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	if !metav1.IsControlledBy(web, foo) || !upToDate(web, desiredDeployment(foo)) {
		t.Errorf("the Deployment doesn't match the Foo: %+v", web)
	}
	c.makeAvailable("web")
	c.eventually("the Foo is ready when its Deployment is", c.isReady(2))
	c.eventually("the Event is recorded, once", func(ctx context.Context) bool { return c.eventCount(ctx, "Synced") == 1 })

	c.change(`{"replicas":3}`)
	c.eventually("the Deployment is scaled with its Foo", c.hasReplicas("web", 3))
	c.eventually("the Foo is no longer ready", c.hasReason("Progressing"))
	c.makeAvailable("web")
	c.eventually("the Foo is ready again", c.isReady(3))

	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":1}}`)
	c.eventually("a manual scale of the Deployment is reverted", c.hasReplicas("web", 3))
	if web, err = c.deployment(t.Context(), "web"); err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("annotations are %v, want somebody's team: blue (error: %v)", web.Annotations, err)
	}
	must(t, c.users.Delete(t.Context(), web))
	c.eventually("a deleted Deployment is created again", func(ctx context.Context) bool {
		now, err := c.deployment(ctx, "web")
		return err == nil && now.UID != web.UID
	})

	c.change(`{"deploymentName":"new"}`)
	c.eventually("the former Deployment is gone after deploymentName has changed", c.isGone("web"))
	c.eventually("the new Deployment exists", c.hasReplicas("new", 3))

	must(t, c.users.Delete(t.Context(), foo))
	c.settle()
	left, err := c.deployment(t.Context(), "new")
	if err != nil || !metav1.IsControlledBy(left, foo) {
		t.Errorf("owner references after the Foo's deletion are %+v, want the Foo, because the garbage collector uses them (error: %v)", left.OwnerReferences, err)
	}
}

func TestTakenName(t *testing.T) {
	c := newBareCluster(t)
	c.start()
	theirs := deploymentOf(aFoo("theirs", "taken", 1), unowned)
	c.createByHand(theirs)
	c.create(example)
	c.eventually("the Foo has its Deployment", c.hasReason("Progressing"))

	c.change(`{"deploymentName":"taken"}`)
	c.eventually("the status says that the name is taken", c.hasReason("ErrResourceExists"))
	c.eventually("the Event is recorded, once", func(ctx context.Context) bool { return c.eventCount(ctx, "ErrResourceExists") == 1 })
	c.changeByHand("taken", `{"metadata":{"annotations":{"still":"mine"}}}`)
	c.settle()
	taken, err := c.deployment(t.Context(), "taken")
	must(t, err)
	if !equality.Semantic.DeepEqual(taken.Spec, theirs.Spec) || len(taken.OwnerReferences) > 0 {
		t.Errorf("somebody else's Deployment has changed: %+v", taken)
	}
	if _, err := c.deployment(t.Context(), "web"); err != nil {
		t.Errorf("get the former Deployment: %v; want it to stay until the new one exists", err)
	}
	if got := c.eventCount(t.Context(), "ErrResourceExists"); got != 1 {
		t.Errorf("%d ErrResourceExists Events, want 1", got)
	}

	must(t, c.users.Delete(t.Context(), taken))
	c.eventually("the Foo gets the name when it is free", c.hasReplicas("taken", 2))
	c.eventually("the former Deployment is gone", c.isGone("web"))
}

// The controller writes the status last, and only if it has changed, and it doesn't change what is
// up to date. So each version of the objects has a reason. (If the cache is behind, the controller
// may apply the same values again, but that stores no new version.)
func TestNoNeedlessWrites(t *testing.T) {
	c := newBareCluster(t)
	c.start(func(o *ctrl.Options) { o.Controller.MaxConcurrentReconciles = 1 })
	foos := c.follow(&samplecontrollerv1alpha1.FooList{}, "example", func(object client.Object) string {
		if ready := meta.FindStatusCondition(object.(*samplecontrollerv1alpha1.Foo).Status.Conditions, "Ready"); ready != nil {
			return ready.Reason
		}
		return ""
	})
	deployments := c.follow(&appsv1.DeploymentList{}, "web", func(object client.Object) string {
		return fmt.Sprint(*object.(*appsv1.Deployment).Spec.Replicas, " replicas")
	})
	for _, step := range []struct {
		what            string
		do              func()
		wantFoos        []string // versions
		wantDeployments []string
	}{
		{"a Foo is created", func() {
			c.create(example)
			c.eventually("the Foo has its Deployment", c.hasReason("Progressing"))
		}, []string{"", "Progressing"}, []string{"2 replicas"}},
		{"its Deployment becomes available", func() {
			c.makeAvailable("web")
			c.eventually("the Foo is ready", c.isReady(2))
		}, []string{"Available"}, []string{"2 replicas"}},
		{"others change their own fields", func() {
			c.patch(&samplecontrollerv1alpha1.Foo{}, "example", `{"metadata":{"annotations":{"touched":"yes"}}}`)
			c.changeByHand("web", `{"metadata":{"labels":{"team":"blue"}}}`) // (an annotation would raise a Deployment's generation)
		}, []string{"Available"}, []string{"2 replicas"}},
		{"its Deployment is scaled by hand", func() {
			c.changeByHand("web", `{"spec":{"replicas":5}}`)
			c.eventually("the manual scale is reverted", c.hasReason("Progressing"))
		}, []string{"Progressing"}, []string{"5 replicas", "2 replicas"}},
	} {
		step.do()
		last := c.settle()
		if diff := cmp.Diff(step.wantFoos, foos(last)); diff != "" {
			t.Errorf("%s: versions of the Foo (-want +got):\n%s", step.what, diff)
		}
		if diff := cmp.Diff(step.wantDeployments, deployments(last)); diff != "" {
			t.Errorf("%s: versions of the Deployment (-want +got):\n%s", step.what, diff)
		}
	}
}

// follow watches objects. The function that it returns describes each version of the object with
// that name since the last call. It waits for an object called last, until describe returns
// something for it.
func (c *realCluster) follow(list client.ObjectList, name string, describe func(client.Object) string) func(last string) []string {
	c.t.Helper()
	stream, err := c.users.Watch(c.t.Context(), list, client.InNamespace(c.namespace))
	must(c.t, err)
	c.t.Cleanup(stream.Stop)
	return func(last string) (versions []string) {
		for event := range stream.ResultChan() {
			switch object := event.Object.(client.Object); object.GetName() {
			case name:
				versions = append(versions, describe(object))
			case last:
				if describe(object) != "" {
					return versions
				}
			}
		}
		c.t.Errorf("the watch ended before the event of %s", last)
		return versions
	}
}

// settle waits until the controller has handled all earlier events. It returns the name of a Foo
// and a Deployment that were created after them.
func (c *realCluster) settle() string {
	c.t.Helper()
	c.sentinels++
	name := fmt.Sprintf("later-%d", c.sentinels)
	later := aFoo(name, name, 1, func(foo *samplecontrollerv1alpha1.Foo) { foo.UID, foo.Namespace = "", c.namespace })
	must(c.t, c.users.Create(c.t.Context(), later))
	c.eventually("a later Foo is reconciled", func(ctx context.Context) bool {
		must(c.t, c.users.Get(ctx, client.ObjectKeyFromObject(later), later))
		return len(later.Status.Conditions) > 0
	})
	return name
}

// eventCount counts the Events with that reason about the Foo named example.
func (c *realCluster) eventCount(ctx context.Context, reason string) (count int) {
	var events eventsv1.EventList
	must(c.t, c.users.List(ctx, &events, client.InNamespace(c.namespace)))
	for _, event := range events.Items {
		if event.Regarding.Kind == "Foo" && event.Regarding.Name == "example" && event.Reason == reason {
			count++
			if event.Series != nil {
				count += int(event.Series.Count)
			}
		}
	}
	return count
}

func (c *realCluster) hasReplicas(deployment string, replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		found, err := c.deployment(ctx, deployment)
		return err == nil && *found.Spec.Replicas == replicas
	}
}

func (c *realCluster) isGone(deployment string) func(context.Context) bool {
	return func(ctx context.Context) bool {
		_, err := c.deployment(ctx, deployment)
		return apierrors.IsNotFound(err)
	}
}
