// The controller on a real API server, for what the fake clientset can't show: which writes a real
// server refuses. Chapter 01 tests which Foos the CRD rejects.

package main

import (
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

// A real server refuses writes whose assumptions no longer hold. The fake clientset accepts them,
// so write_test.go tests only what is sent.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	foo := c.create(example)
	must(t, errorOf(c.createDeployment(t.Context(), desiredDeployment(foo))))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.change(`{"replicas":5}`)
	another := web.DeepCopy()
	another.UID = "another"

	for name, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		"an apply to a Deployment with another UID":     {errorOf(c.updateDeployment(t.Context(), another, desiredDeployment(foo))), apierrors.IsInvalid}, // a UID is immutable
		"the deletion of a Deployment with another UID": {c.deleteDeployment(t.Context(), another), apierrors.IsConflict},
		"a status of a Foo that has been scaled since":  {c.updateFooStatus(t.Context(), foo, desiredStatus(foo, web, nil, now)), apierrors.IsConflict},
	} {
		if !test.refused(test.err) {
			t.Errorf("%s: got the error %v, want it to be refused", name, test.err)
		}
	}

	handedOver, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.ofAConfigMap(handedOver)
	handedOver.ResourceVersion = "" // so that the Deployment controller's writes don't conflict
	handedOver, err = c.kube.AppsV1().Deployments(c.namespace).Update(t.Context(), handedOver, metav1.UpdateOptions{})
	must(t, err)
	if _, err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsInvalid(err) {
		t.Errorf("an apply to a Deployment that has another controller now: got the error %v, want Invalid", err)
	}

	must(t, c.deleteDeployment(t.Context(), handedOver))
	if _, err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsConflict(err) {
		t.Errorf("an apply to a Deployment that is gone: got the error %v, want a conflict", err)
	}
	if _, err := c.deployment(t.Context(), "web"); !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want NotFound: the apply must not create a Deployment", err)
	}
}
