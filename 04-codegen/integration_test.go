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

func TestIntegrationLifeOfAFoo(t *testing.T) {
	c := newRealCluster(t)
	c.start()
	hasReplicas := func(replicas int32) func(context.Context) bool {
		return func(ctx context.Context) bool {
			web, err := c.deployment(ctx, "web")
			return err == nil && *web.Spec.Replicas == replicas && web.Status.AvailableReplicas == replicas
		}
	}
	isGone := func(name string) func(context.Context) bool {
		return func(ctx context.Context) bool {
			_, err := c.deployment(ctx, name)
			return apierrors.IsNotFound(err)
		}
	}

	c.create(example)
	c.eventually("a new Foo becomes ready", c.isReady(2))

	c.change(`{"replicas":3}`)
	c.eventually("a scaled Foo becomes ready", c.isReady(3))

	c.changeByHand("web", `{"spec":{"replicas":1}}`)
	c.eventually("a Deployment that was scaled by hand is put back", hasReplicas(3))

	c.change(`{"deploymentName":"new"}`)
	c.eventually("the old Deployment is gone once the Foo is renamed", isGone("web"))
	c.eventually("and the new one is there", c.isReady(3))

	if err := c.users.Delete(t.Context(), "example", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.eventually("the garbage collector deletes the Deployment", isGone("new"))
}

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
	foo := c.create(example)
	must(t, c.createDeployment(t.Context(), desiredDeployment(foo)))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.change(`{"replicas":5}`)
	another := web.DeepCopy()
	another.UID = "another"

	for name, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		"an apply to a Deployment of another UID":      {c.updateDeployment(t.Context(), another, desiredDeployment(foo)), apierrors.IsInvalid}, // a UID can't be changed
		"the deletion of a Deployment of another UID":  {c.deleteDeployment(t.Context(), another), apierrors.IsConflict},
		"a status of a Foo that has been scaled since": {c.updateFooStatus(t.Context(), foo, desiredStatus(foo, web, now)), apierrors.IsConflict},
	} {
		if !test.refused(test.err) {
			t.Errorf("%s: got the error %v, want that it is refused", name, test.err)
		}
	}

	handedOver, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.ofAConfigMap(handedOver)
	handedOver.ResourceVersion = "" // whatever the Deployment controller has written since
	handedOver, err = c.kube.AppsV1().Deployments(c.namespace).Update(t.Context(), handedOver, metav1.UpdateOptions{})
	must(t, err)
	if err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsInvalid(err) {
		t.Errorf("an apply to a Deployment that somebody else controls by now: got the error %v, want that it is invalid", err)
	}

	must(t, c.deleteDeployment(t.Context(), handedOver))
	if err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsConflict(err) {
		t.Errorf("an apply to a Deployment that is gone: got the error %v, want a conflict", err)
	}
	if _, err := c.deployment(t.Context(), "web"); !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want that no Deployment was made", err)
	}
}
