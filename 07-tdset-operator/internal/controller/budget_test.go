// The write budget, on a real API server. The controller writes the status last, and only if it has
// changed, and it writes only objects that differ. So each version of an object has a reason. (An
// apply that changes nothing makes no new version. There may be some, because the cache may be
// behind.)

package controller

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

func TestWriteBudget(t *testing.T) {
	c := newBareCluster(t)
	c.clock.set(at(18, 0))
	c.start(1)
	tdsets := c.follow(&schedulev2.TDSetList{}, func(object client.Object) string {
		return fmt.Sprintf("%s %v", statusOf(object.(*schedulev2.TDSet)), object.GetFinalizers())
	})
	deployments := c.follow(&appsv1.DeploymentList{}, func(object client.Object) string {
		deployment := object.(*appsv1.Deployment)
		return fmt.Sprintf("%d replicas, %d available", replicasOf(deployment), deployment.Status.AvailableReplicas)
	})
	const its = " [schedule.rs/drain]"
	for _, step := range []struct {
		what            string
		do              func()
		wantTDSets      []string // versions: the user's, and at most two statuses
		wantDeployments []string // versions: the controller's, and those of the test as the Deployment controller
		wantEvents      int      // so far
	}{
		{"it is created: including the next step, four writes and an event", func() {
			c.createTDSet(example)
			c.eventually("the TDSet has its Deployment", c.status("17-19: RollingOut, AsExpected"))
		}, []string{" []", its, "17-19: RollingOut, AsExpected" + its}, []string{"3 replicas, 0 available"}, 1},
		{"its Deployment becomes available", func() {
			c.becomesAvailable()
			c.eventually("the rollout is complete", c.status("17-19: RolledOut, AsExpected"))
		}, []string{"17-19: RolledOut, AsExpected" + its}, []string{"3 replicas, 3 available"}, 1},
		{"other people's fields are changed", func() {
			c.patch(&schedulev2.TDSet{}, "web", `{"metadata":{"annotations":{"touched":"yes"}}}`)
			c.patch(&appsv1.Deployment{}, "web", `{"metadata":{"labels":{"team":"blue"}}}`)
		}, []string{"17-19: RolledOut, AsExpected" + its}, []string{"3 replicas, 3 available"}, 1},
		{"its window ends, and it is scaled down", func() {
			c.setClockJustBefore(at(19, 0))
			c.eventually("its Deployment is scaled", c.status("default: RollingOut, AsExpected"))
			c.becomesAvailable()
			c.eventually("the rollout is complete again", c.status("default: RolledOut, AsExpected"))
		}, []string{"17-19: RolledOut, AsExpected" + its, "default: RollingOut, AsExpected" + its, "default: RolledOut, AsExpected" + its},
			[]string{"2 replicas, 3 available", "2 replicas, 2 available"}, 2},
		{"a window starts, and Pods become available one by one", func() {
			c.setClockJustBefore(at(24+9, 0))
			c.eventually("its Deployment is scaled", c.status("9-17: RollingOut, AsExpected"))
			for pods := int32(3); pods <= 5; pods++ {
				deployment := c.deployment(t.Context())
				withPods(pods)(deployment)
				must(t, c.users.Status().Update(t.Context(), deployment))
				c.settles()
			}
		}, []string{"default: RolledOut, AsExpected" + its, "9-17: RollingOut, AsExpected" + its, "9-17: RolledOut, AsExpected" + its},
			[]string{"5 replicas, 2 available", "5 replicas, 3 available", "5 replicas, 4 available", "5 replicas, 5 available"}, 3},
		{"a Service is added: one more write", func() {
			c.change(`{"service":{"port":80}}`)
			c.eventually("the Service exists", c.listensOn(80))
			c.eventually("the status is for the new spec", c.status("9-17: RolledOut, AsExpected"))
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
		c.eventually(fmt.Sprintf("%s: %d events so far", step.what, step.wantEvents), func(ctx context.Context) bool {
			return c.recorded(ctx, "Scaled") == step.wantEvents
		})
	}
}

// follow watches objects. The function that it returns describes each version since its last call,
// up to the object with the name last.
func (c *realCluster) follow(list client.ObjectList, describe func(client.Object) string) func(last string) []string {
	c.t.Helper()
	stream, err := c.users.Watch(c.t.Context(), list, client.InNamespace(c.namespace))
	must(c.t, err)
	c.t.Cleanup(stream.Stop)
	return func(last string) (versions []string) {
		for event := range stream.ResultChan() {
			object := event.Object.(client.Object)
			switch object.GetName() {
			case "web":
				versions = append(versions, describe(object))
			case last:
				return versions
			}
		}
		c.t.Errorf("the watch ended before the event of %s", last)
		return versions
	}
}

// settles waits until the controller has processed all events so far. It returns the name of a
// TDSet and a Deployment that were created after them.
func (c *realCluster) settles() string {
	c.t.Helper()
	c.sentinels++
	later := aTDSet(named(fmt.Sprintf("later-%d", c.sentinels)))
	later.UID, later.Namespace = "", c.namespace
	must(c.t, c.users.Create(c.t.Context(), later))
	c.eventually("a later TDSet is reconciled", func(ctx context.Context) bool {
		must(c.t, c.users.Get(ctx, client.ObjectKeyFromObject(later), later))
		return len(later.Status.Conditions) > 0
	})
	return later.Name
}
