// The write budget, on a real API server. What a status says is written at the end, and only if
// that is new; and nothing is changed that is so already. So each version of the objects is one
// that somebody has wanted. (An apply that changes nothing makes none. There are some: the cache
// may be behind.)

package controller

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

func TestNothingIsWrittenForNothing(t *testing.T) {
	c := newBareCluster(t)
	c.clock.set(at(18, 0))
	c.start(1)
	tdsets := c.follow(&schedulev1.TDSetList{}, func(object client.Object) string {
		return fmt.Sprintf("%s %v", saidBy(object.(*schedulev1.TDSet)), object.GetFinalizers())
	})
	deployments := c.follow(&appsv1.DeploymentList{}, func(object client.Object) string {
		deployment := object.(*appsv1.Deployment)
		return fmt.Sprintf("%d replicas, %d available", replicasOf(deployment), deployment.Status.AvailableReplicas)
	})
	const its = " [schedule.rs/drain]"
	for _, step := range []struct {
		what            string
		do              func()
		wantTDSets      []string // versions: its users', and at most two statuses
		wantDeployments []string // versions: the controller's one, and those of the test, which does the Deployment controller's work
		wantEvents      int      // until then
	}{
		{"it is made: with the next step, it settles in four writes and an event", func() {
			c.createTDSet(example)
			c.eventually("it has its Deployment", c.says("17-19: RollingOut, AsExpected"))
		}, []string{" []", its, "17-19: RollingOut, AsExpected" + its}, []string{"3 replicas, 0 available"}, 1},
		{"its Deployment becomes available", func() {
			c.becomesAvailable()
			c.eventually("all is well", c.says("17-19: RolledOut, AsExpected"))
		}, []string{"17-19: RolledOut, AsExpected" + its}, []string{"3 replicas, 3 available"}, 1},
		{"what others own is changed", func() {
			c.patch(&schedulev1.TDSet{}, "web", `{"metadata":{"annotations":{"touched":"yes"}}}`)
			c.patch(&appsv1.Deployment{}, "web", `{"metadata":{"labels":{"team":"blue"}}}`)
		}, []string{"17-19: RolledOut, AsExpected" + its}, []string{"3 replicas, 3 available"}, 1},
		{"its window ends, and fewer Pods are wanted", func() {
			c.soonItIs(at(19, 0))
			c.eventually("its Deployment is scaled", c.says("default: RollingOut, AsExpected"))
			c.becomesAvailable()
			c.eventually("all is well again", c.says("default: RolledOut, AsExpected"))
		}, []string{"17-19: RolledOut, AsExpected" + its, "default: RollingOut, AsExpected" + its, "default: RolledOut, AsExpected" + its},
			[]string{"2 replicas, 3 available", "2 replicas, 2 available"}, 2},
		{"a window begins, and Pods come up one by one", func() {
			c.soonItIs(at(24+9, 0))
			c.eventually("its Deployment is scaled", c.says("9-17: RollingOut, AsExpected"))
			for pods := int32(3); pods <= 5; pods++ {
				deployment := c.deployment(t.Context())
				withPods(pods)(deployment)
				must(t, c.users.Status().Update(t.Context(), deployment))
				c.settles()
			}
		}, []string{"default: RolledOut, AsExpected" + its, "9-17: RollingOut, AsExpected" + its, "9-17: RolledOut, AsExpected" + its},
			[]string{"5 replicas, 2 available", "5 replicas, 3 available", "5 replicas, 4 available", "5 replicas, 5 available"}, 3},
		{"a Service is asked for: a write more", func() {
			c.change(`{"service":{"port":80}}`)
			c.eventually("it is there", c.listensOn(80))
			c.eventually("the status is of the new spec", c.says("9-17: RolledOut, AsExpected"))
		}, []string{"9-17: RolledOut, AsExpected" + its, "9-17: RolledOut, AsExpected" + its}, nil, 3},
		{"nothing happens", func() {}, nil, nil, 3},
	} {
		step.do()
		last := c.settles()
		if diff := cmp.Diff(step.wantTDSets, tdsets(last)); diff != "" {
			t.Errorf("%s: versions of the TDSet (-want +got):\n%s", step.what, diff)
		}
		if diff := cmp.Diff(step.wantDeployments, deployments(last)); diff != "" {
			t.Errorf("%s: versions of the Deployment (-want +got):\n%s", step.what, diff)
		}
		c.eventually(fmt.Sprintf("%s: %d events by now", step.what, step.wantEvents), func(ctx context.Context) bool {
			return c.recorded(ctx, "Scaled") == step.wantEvents
		})
	}
}

// follow watches objects. What it returns returns what tell says of each version of the TDSet's,
// since it was last called, until the one comes whose name is last.
func (c *realCluster) follow(list client.ObjectList, tell func(client.Object) string) func(last string) []string {
	c.t.Helper()
	stream, err := c.users.Watch(c.t.Context(), list, client.InNamespace(c.namespace))
	must(c.t, err)
	c.t.Cleanup(stream.Stop)
	return func(last string) (told []string) {
		for event := range stream.ResultChan() {
			object := event.Object.(client.Object)
			switch object.GetName() {
			case "web":
				told = append(told, tell(object))
			case last:
				return told
			}
		}
		c.t.Errorf("the watch has ended before %s came", last)
		return told
	}
}

// settles waits until the controller has done what it has to about all that has happened. It
// returns the name of a TDSet and Deployment that were made after all that.
func (c *realCluster) settles() string {
	c.t.Helper()
	c.sentinels++
	later := aTDSet(named(fmt.Sprintf("later-%d", c.sentinels)))
	later.UID, later.Namespace = "", c.namespace
	must(c.t, c.users.Create(c.t.Context(), later))
	c.eventually("a later TDSet is worked on", func(ctx context.Context) bool {
		must(c.t, c.users.Get(ctx, client.ObjectKeyFromObject(later), later))
		return len(later.Status.Conditions) > 0
	})
	return later.Name
}
