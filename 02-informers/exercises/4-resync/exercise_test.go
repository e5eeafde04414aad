//go:build check || solution

// The tests of OnUpdate. They fill the caches themselves, and call OnUpdate as an informer does:
// after a change with the old and the new state, and at a resync with the same state twice. A
// written status is a change, too.
//
// As given, every call sends a status and an Event. `workshop test` checks these failures:
//
// fails: TestOnUpdate/a new Foo: one status and one Event
// says: Available since 10:20
//
// fails: TestOnUpdate/nothing has changed: resyncs send nothing
// says: Available since 10:20
//
// fails: TestOnUpdate/a Pod is gone, and that event was lost: a resync reports it, once
// says: Progressing since 10:20
//
// fails: TestOnUpdate/one more Pod, but not all: a new status with the old time, and no Event
// says: event Progressing: 2 of 3 replicas are available
//
// fails: TestOnUpdate/one more Pod, before the new status is in the cache: another status, and no second Event
// says: event Progressing: 2 of 3 replicas are available
//
// fails: TestOnUpdate/another reason, but still not ready: a status with the old time, and an Event
// says: Progressing since 10:20
//
// fails: TestOnUpdate/the spec has changed, but nothing follows from it: a status with the new generation, and no Event
// says: event Available: 3 of 3 replicas are available

package resync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	clocktesting "k8s.io/utils/clock/testing"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// The first call is at ten, and each further call is ten minutes later. If a Foo has a status at
// the beginning, it has had it since nine.
var (
	nine = time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	ten  = nine.Add(time.Hour)
)

func TestOnUpdate(t *testing.T) {
	for sentence, test := range map[string]struct {
		foo        *samplecontrollerv1alpha1.Foo
		deployment *appsv1.Deployment
		// changed means that the first call reports a change of the Foo. Otherwise it is a resync.
		// Each further call is a resync, too, unless the call before it wrote a status.
		changed bool
		calls   int
		refused bool // whether the server refuses the first status
		// more is how many Pods are available from the second call on. 0 means as many as before.
		more int32
		want []string
	}{
		"a new Foo: one status and one Event": {
			foo: newFoo(), deployment: deployment(3, 3),
			changed: true, calls: 3,
			want: []string{
				"status of generation 1: 3 available, Available since 10:00",
				"event Available: 3 of 3 replicas are available",
			},
		},
		"nothing has changed: resyncs send nothing": {
			foo: ready(), deployment: deployment(3, 3),
			calls: 3,
		},
		"somebody has scaled the Deployment, and that event was lost: a resync reverts it": {
			foo: ready(), deployment: deployment(5, 3),
			calls: 1,
			want:  []string{"scale web to 3"},
		},
		"a Pod is gone, and that event was lost: a resync reports it, once": {
			foo: ready(), deployment: deployment(3, 2),
			calls: 3,
			want: []string{
				"status of generation 1: 2 available, Progressing since 10:00",
				"event Progressing: 2 of 3 replicas are available",
			},
		},
		"one more Pod, but not all: a new status with the old time, and no Event": {
			foo: unready(1), deployment: deployment(3, 2),
			calls: 1,
			want:  []string{"status of generation 1: 2 available, Progressing since 09:00"},
		},
		"one more Pod, before the new status is in the cache: another status, and no second Event": {
			foo: newFoo(), deployment: deployment(3, 1),
			changed: true, calls: 2, more: 2,
			want: []string{
				"status of generation 1: 1 available, Progressing since 10:00",
				"event Progressing: 1 of 3 replicas are available",
				"status of generation 1: 2 available, Progressing since 10:00",
			},
		},
		"another reason, but still not ready: a status with the old time, and an Event": {
			foo: withReady(2, metav1.ConditionFalse, "ErrResourceExists"), deployment: deployment(3, 2),
			calls: 3,
			want: []string{
				"status of generation 1: 2 available, Progressing since 09:00",
				"event Progressing: 2 of 3 replicas are available",
			},
		},
		"the spec has changed, but nothing follows from it: a status with the new generation, and no Event": {
			foo: ofGeneration(2, ready()), deployment: deployment(3, 3),
			changed: true, calls: 2,
			want: []string{"status of generation 2: 3 available, Available since 09:00"},
		},
		"the status is refused: no Event, and the next resync retries": {
			foo: newFoo(), deployment: deployment(3, 3),
			changed: true, calls: 2, refused: true,
			want: []string{
				"refused: status of generation 1: 3 available, Available since 10:00",
				"status of generation 1: 3 available, Available since 10:10",
				"event Available: 3 of 3 replicas are available",
			},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			cluster := newCluster(t, test.foo, test.deployment)
			cluster.refuse = test.refused
			if test.changed {
				cluster.old = test.foo.DeepCopy()
				cluster.old.ResourceVersion = "6"
			}

			for i := range test.calls {
				if i == 1 && test.more > 0 {
					cluster.put(deployment(3, test.more))
				}
				call(cluster)
			}

			if !slices.Equal(cluster.sent, test.want) {
				t.Errorf("OnUpdate sent%s\nwant%s", listed(cluster.sent), listed(test.want))
			}
		})
	}
}

// cluster has the objects that the controller reads, and records the requests that it sends.
type cluster struct {
	*Controller
	foo, old *samplecontrollerv1alpha1.Foo // in the cache; its old state until the next call
	written  *samplecontrollerv1alpha1.Foo // with the new status, on its way into the cache
	refuse   bool
	sent     []string
	t        *testing.T

	deployments cache.Indexer
}

func newCluster(t *testing.T, foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) *cluster {
	t.Helper()
	c := &cluster{foo: foo, t: t, deployments: cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})}
	c.put(deployment)
	c.Controller = &Controller{
		Deployments: appslisters.NewDeploymentLister(c.deployments),
		Scale: func(_ context.Context, d *appsv1.Deployment, replicas int32) error {
			c.sent = append(c.sent, fmt.Sprintf("scale %s to %d", d.Name, replicas))
			return nil
		},
		UpdateStatus: c.receiveStatus,
		Event: func(_ *samplecontrollerv1alpha1.Foo, reason, message string) {
			c.sent = append(c.sent, fmt.Sprintf("event %s: %s", reason, message))
		},
		Clock: clocktesting.NewFakePassiveClock(ten),
	}
	return c
}

// put replaces the Deployment in the cache.
func (c *cluster) put(deployment *appsv1.Deployment) {
	c.t.Helper()
	if err := c.deployments.Update(deployment); err != nil {
		c.t.Fatal(err)
	}
}

// call calls OnUpdate, and moves the clock forward by ten minutes.
func call(c *cluster) {
	c.t.Helper()
	old, refuse := c.foo, c.refuse
	if c.old != nil {
		old = c.old
	}
	before := c.foo.DeepCopy()

	err := c.OnUpdate(c.t.Context(), old, c.foo)

	if (err != nil) != refuse {
		c.t.Errorf("got the error %v, want one: %v", err, refuse)
	}
	if diff := cmp.Diff(before.Status, c.foo.Status); diff != "" {
		c.t.Errorf("the Foo in the cache was changed (-before +after):\n%s", diff)
	}
	c.old = nil
	if c.written != nil {
		c.old, c.foo, c.written = c.foo, c.written, nil
	}
	clock := c.Clock.(*clocktesting.FakePassiveClock)
	clock.SetTime(clock.Now().Add(10 * time.Minute))
}

// receiveStatus does what the API server does when it gets a status.
func (c *cluster) receiveStatus(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	request := fmt.Sprintf("status of generation %d: %d available", foo.Status.ObservedGeneration, foo.Status.AvailableReplicas)
	for _, condition := range foo.Status.Conditions {
		request += fmt.Sprintf(", %s since %s", condition.Reason, condition.LastTransitionTime.UTC().Format("15:04"))
	}
	if c.refuse {
		c.refuse = false
		c.sent = append(c.sent, "refused: "+request)
		return errors.New("the disk is full")
	}
	c.sent = append(c.sent, request)
	if foo.ResourceVersion != c.foo.ResourceVersion {
		c.t.Errorf("OnUpdate sent a status with the resourceVersion %q, want %q, that of the Foo in the cache", foo.ResourceVersion, c.foo.ResourceVersion)
	}
	c.written = foo.DeepCopy()
	c.written.ResourceVersion = c.foo.ResourceVersion + "1"
	return nil
}

func listed(sent []string) string {
	if len(sent) == 0 {
		return " nothing"
	}
	return "\n  " + strings.Join(sent, "\n  ")
}

// newFoo returns a Foo that asks for web with three replicas.
func newFoo() *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "example", UID: "1", ResourceVersion: "7", Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: "web", Replicas: new(int32(3))},
	}
}

// ready returns a Foo that has been Ready since nine, and unready one that hasn't, with that many
// available replicas.
func ready() *samplecontrollerv1alpha1.Foo { return withReady(3, metav1.ConditionTrue, "Available") }
func unready(available int32) *samplecontrollerv1alpha1.Foo {
	return withReady(available, metav1.ConditionFalse, "Progressing")
}

func withReady(available int32, status metav1.ConditionStatus, reason string) *samplecontrollerv1alpha1.Foo {
	foo := newFoo()
	foo.Status = samplecontrollerv1alpha1.FooStatus{
		AvailableReplicas:  available,
		ObservedGeneration: 1,
		Conditions: []metav1.Condition{{
			Type:               "Ready",
			Status:             status,
			Reason:             reason,
			Message:            fmt.Sprintf("%d of 3 replicas are available", available),
			ObservedGeneration: 1,
			LastTransitionTime: metav1.NewTime(nine),
		}},
	}
	return foo
}

// ofGeneration returns foo with that generation, as after a change of its spec. Its status still
// has the old one.
func ofGeneration(generation int64, foo *samplecontrollerv1alpha1.Foo) *samplecontrollerv1alpha1.Foo {
	foo.Generation = generation
	return foo
}

// deployment returns web, controlled by the Foo.
func deployment(replicas, available int32) *appsv1.Deployment {
	owner := metav1.OwnerReference{APIVersion: "samplecontroller.k8s.io/v1alpha1", Kind: "Foo", Name: "example", UID: "1", Controller: new(true)}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", OwnerReferences: []metav1.OwnerReference{owner}},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas},
		Status:     appsv1.DeploymentStatus{AvailableReplicas: available},
	}
}
