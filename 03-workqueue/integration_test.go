// The controller on a real API server: what the fake clientset can't show. Real Pods' numbers, real
// conflicts, real garbage collection. What the server refuses of bad Foos is the CRD's, and chapter
// 01's to test.

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

// Of two copies one works. When it is told to stop, it gives the lease back, and the other takes
// over at once.
func TestIntegrationTheOtherCopyTakesOver(t *testing.T) {
	c := newRealCluster(t)
	stopFirst := c.startCopy()
	c.eventually("the first copy leads", func(ctx context.Context) bool { return c.leader(ctx) != "" })
	first := c.leader(t.Context())
	stopSecond := c.startCopy()
	c.create(example)
	c.eventually("the Foo becomes ready", c.isReady(2))
	c.eventually("its users are told, once", func(ctx context.Context) bool {
		events, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.kind=Foo,reason=Synced"})
		return err == nil && len(events.Items) == 1 && events.Items[0].Count == 1
	})
	if got := c.leader(t.Context()); got != first {
		t.Errorf("%q leads, want the first copy, %q", got, first)
	}

	stopFirst()
	c.change(`{"replicas":3}`)
	c.eventually("the scaled Foo becomes ready", c.isReady(3))
	if got := c.leader(t.Context()); got == first || got == "" {
		t.Errorf("%q leads, want the second copy", got)
	}

	stopSecond()
	if got := c.leader(t.Context()); got != "" {
		t.Errorf("%q leads, want nobody", got)
	}
}

// What the fake clientset lets through, a server refuses: see write_test.go for what the controller
// sends.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	c.create(example)
	foo, err := c.foo(t.Context())
	must(t, err)
	must(t, c.createDeployment(t.Context(), desiredDeployment(foo)))
	stale, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.changeByHand("web", `{"metadata":{"annotations":{"team":"blue"}}}`)
	c.change(`{"replicas":5}`)
	another := stale.DeepCopy()
	another.UID = "another"

	for name, err := range map[string]error{
		"an update of a Deployment that somebody has annotated since": c.updateDeployment(t.Context(), stale, desiredDeployment(foo)),
		"a status of a Foo that has been scaled since":                c.updateFooStatus(t.Context(), foo, desiredStatus(foo, stale, now)),
		"the deletion of a Deployment of another UID":                 c.deleteDeployment(t.Context(), another),
	} {
		if !apierrors.IsConflict(err) {
			t.Errorf("%s: got the error %v, want a conflict", name, err)
		}
	}
	if err := c.createDeployment(t.Context(), desiredDeployment(foo)); !apierrors.IsAlreadyExists(err) {
		t.Errorf("a second Deployment with the same name: got the error %v, want AlreadyExists", err)
	}
	web, err := c.deployment(t.Context(), "web")
	if err != nil || web.Annotations["team"] != "blue" {
		t.Errorf("somebody else's annotation is lost: the annotations are %v, the error is %v", web.Annotations, err)
	}
}
