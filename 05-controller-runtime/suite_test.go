// The whole on a real API server, as the manager runs it: events come by watches, reads from the cache, and what is written is
// validated and defaulted. No other controller is there, so the tests say when a Deployment is available, and nothing is collected:
// they look at what the garbage collector would go by.

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
	c.eventually("a new Foo has its Deployment, and says so", c.says("Progressing"))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	if !metav1.IsControlledBy(web, foo) || !upToDate(web, desiredDeployment(foo)) {
		t.Errorf("the Deployment isn't what the Foo wants: %+v", web)
	}
	c.becomesAvailable("web")
	c.eventually("the Foo is ready when its Deployment is", c.isReady(2))
	c.eventually("its users are told, once", func(ctx context.Context) bool { return c.recordedOf(ctx, "Synced") == 1 })

	c.change(`{"replicas":3}`)
	c.eventually("a scaled Foo's Deployment is scaled", c.hasReplicas("web", 3))
	c.eventually("the Foo isn't ready then", c.says("Progressing"))
	c.becomesAvailable("web")
	c.eventually("and is again", c.isReady(3))

	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}},"spec":{"replicas":1}}`)
	c.eventually("a Deployment that was scaled by hand is put back", c.hasReplicas("web", 3))
	if web, err = c.deployment(t.Context(), "web"); err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v, the error is %v", web.Annotations, err)
	}
	must(t, c.users.Delete(t.Context(), web))
	c.eventually("a deleted Deployment is created again", func(ctx context.Context) bool {
		now, err := c.deployment(ctx, "web")
		return err == nil && now.UID != web.UID
	})

	c.change(`{"deploymentName":"new"}`)
	c.eventually("the old Deployment is gone once the Foo is renamed", c.isGone("web"))
	c.eventually("and the new one is there", c.hasReplicas("new", 3))

	must(t, c.users.Delete(t.Context(), foo))
	c.settles()
	left, err := c.deployment(t.Context(), "new")
	if err != nil || !metav1.IsControlledBy(left, foo) {
		t.Errorf("a deleted Foo's Deployment is the garbage collector's, which goes by the owner reference: %+v, %v", left.OwnerReferences, err)
	}
}

func TestANameThatIsTaken(t *testing.T) {
	c := newBareCluster(t)
	c.start()
	theirs := deploymentOf(aFoo("theirs", "taken", 1), unowned)
	c.makeByHand(theirs)
	c.create(example)
	c.eventually("the Foo has its Deployment", c.says("Progressing"))

	c.change(`{"deploymentName":"taken"}`)
	c.eventually("the Foo says that the name is taken", c.says("ErrResourceExists"))
	c.eventually("its users are told, once", func(ctx context.Context) bool { return c.recordedOf(ctx, "ErrResourceExists") == 1 })
	c.changeByHand("taken", `{"metadata":{"annotations":{"still":"mine"}}}`)
	c.settles()
	taken, err := c.deployment(t.Context(), "taken")
	must(t, err)
	if !equality.Semantic.DeepEqual(taken.Spec, theirs.Spec) || len(taken.OwnerReferences) > 0 {
		t.Errorf("somebody else's Deployment was touched: %+v", taken)
	}
	if _, err := c.deployment(t.Context(), "web"); err != nil {
		t.Errorf("the old Deployment, without which there is none: %v", err)
	}
	if got := c.recordedOf(t.Context(), "ErrResourceExists"); got != 1 {
		t.Errorf("users were told %d times", got)
	}

	must(t, c.users.Delete(t.Context(), taken))
	c.eventually("the Foo takes the name when it is free", c.hasReplicas("taken", 2))
	c.eventually("and gives up the other", c.isGone("web"))
}

// What a status says is written at the end, and only if that is new; and nothing is changed that is so already. So each version of the
// objects is one that somebody has wanted. (An apply that changes nothing makes none. There are some: the cache may be behind.)
func TestNothingIsWrittenForNothing(t *testing.T) {
	c := newBareCluster(t)
	c.start(func(o *options) { o.Controller.MaxConcurrentReconciles = 1 })
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
		{"it is made", func() {
			c.create(example)
			c.eventually("it has its Deployment", c.says("Progressing"))
		}, []string{"", "Progressing"}, []string{"2 replicas"}},
		{"its Deployment becomes available", func() {
			c.becomesAvailable("web")
			c.eventually("it is ready", c.isReady(2))
		}, []string{"Available"}, []string{"2 replicas"}},
		{"what others own is changed", func() {
			c.patch(&samplecontrollerv1alpha1.Foo{}, "example", `{"metadata":{"annotations":{"touched":"yes"}}}`)
			c.changeByHand("web", `{"metadata":{"labels":{"team":"blue"}}}`) // an annotation is a new generation to a Deployment
		}, []string{"Available"}, []string{"2 replicas"}},
		{"its Deployment is scaled by hand", func() {
			c.changeByHand("web", `{"spec":{"replicas":5}}`)
			c.eventually("that is put back", c.says("Progressing"))
		}, []string{"Progressing"}, []string{"5 replicas", "2 replicas"}},
	} {
		step.do()
		last := c.settles()
		if diff := cmp.Diff(step.wantFoos, foos(last)); diff != "" {
			t.Errorf("%s: versions of the Foo (-want +got):\n%s", step.what, diff)
		}
		if diff := cmp.Diff(step.wantDeployments, deployments(last)); diff != "" {
			t.Errorf("%s: versions of the Deployment (-want +got):\n%s", step.what, diff)
		}
	}
}

// follow watches objects. What it returns returns what tell says of each version of the one of that name, since it was last called, until
// there is something to tell of the one whose name is last.
func (c *realCluster) follow(list client.ObjectList, name string, tell func(client.Object) string) func(last string) []string {
	c.t.Helper()
	stream, err := c.users.Watch(c.t.Context(), list, client.InNamespace(c.namespace))
	must(c.t, err)
	c.t.Cleanup(stream.Stop)
	return func(last string) (told []string) {
		for event := range stream.ResultChan() {
			switch object := event.Object.(client.Object); object.GetName() {
			case name:
				told = append(told, tell(object))
			case last:
				if tell(object) != "" {
					return told
				}
			}
		}
		c.t.Errorf("the watch has ended before %s came", last)
		return told
	}
}

// settles waits until the controller has done what it has to about all that has happened. It returns the name of a Foo and Deployment that
// were made after all that.
func (c *realCluster) settles() string {
	c.t.Helper()
	c.sentinels++
	name := fmt.Sprintf("later-%d", c.sentinels)
	later := aFoo(name, name, 1, func(foo *samplecontrollerv1alpha1.Foo) { foo.UID, foo.Namespace = "", c.namespace })
	must(c.t, c.users.Create(c.t.Context(), later))
	c.eventually("a later Foo is worked on", func(ctx context.Context) bool {
		must(c.t, c.users.Get(ctx, client.ObjectKeyFromObject(later), later))
		return len(later.Status.Conditions) > 0
	})
	return name
}

// recordedOf counts the events with a reason that are about the Foo named example.
func (c *realCluster) recordedOf(ctx context.Context, reason string) (count int) {
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
