// The controller on a real API server, for what the fake clientset can't show: leader election with
// a real Lease, Events, real Pods and real conflicts. Chapter 01 tests which Foos the CRD rejects.

package main

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const example = `
apiVersion: samplecontroller.k8s.io/v1alpha1
kind: Foo
metadata: {name: example}
spec: {deploymentName: web, replicas: 2}
`

// One of two replicas works. When it is shut down, it releases the lease, and the other one takes
// over at once.
func TestIntegrationTheOtherReplicaTakesOver(t *testing.T) {
	c := newRealCluster(t)
	stopFirst := c.startReplica()
	c.eventually("the first replica leads", func(ctx context.Context) bool { return c.leader(ctx) != "" })
	first := c.leader(t.Context())
	stopSecond := c.startReplica()
	c.create(example)
	c.eventually("the Foo becomes ready", c.isReady(2))
	c.eventually("one Event is recorded, once", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Foo,reason=Synced"})
		return err == nil && len(events.Items) == 1 && events.Items[0].Count == 1
	})
	if got := c.leader(t.Context()); got != first {
		t.Errorf("%q leads, want the first replica, %q", got, first)
	}

	stopFirst()
	c.change(`{"replicas":3}`)
	c.eventually("the scaled Foo becomes ready", c.isReady(3))
	if got := c.leader(t.Context()); got == first || got == "" {
		t.Errorf("%q leads, want the second replica", got)
	}

	stopSecond()
	if got := c.leader(t.Context()); got != "" {
		t.Errorf("%q holds the lease, want nobody: both replicas have stopped", got)
	}
}

// A real server refuses writes whose assumptions no longer hold. The fake clientset accepts them,
// so chapter 02's write_test.go tests only what is sent.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	c.create(example)
	foo, err := c.foo(t.Context())
	must(t, err)
	must(t, errorOf(c.createDeployment(t.Context(), desiredDeployment(foo))))
	stale, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}}}`)
	c.change(`{"replicas":5}`)
	another := stale.DeepCopy()
	another.UID = "another"

	for name, err := range map[string]error{
		"an update of a Deployment that somebody has annotated since": errorOf(c.updateDeployment(t.Context(), stale, desiredDeployment(foo))),
		"a status of a Foo that has been scaled since":                c.updateFooStatus(t.Context(), foo, desiredStatus(foo, stale, nil, now)),
		"the deletion of a Deployment with another UID":               c.deleteDeployment(t.Context(), another),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", name, err)
		}
	}
	if _, err := c.createDeployment(t.Context(), desiredDeployment(foo)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second Deployment with the same name: got the error %v, want AlreadyExists", err)
	}
	web, err := c.deployment(t.Context(), "web")
	if err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v, the error is %v", web.Annotations, err)
	}
}
