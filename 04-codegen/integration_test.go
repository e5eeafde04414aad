// The controller on a real API server, for what the fake clientset can't show: which writes a real
// server refuses.

package main

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A real server refuses writes whose assumptions no longer hold.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	c := newRealCluster(t)
	foo := c.create(aFoo("example", "web", 2))
	web := c.apply(foo)
	_, err := c.users.Patch(t.Context(), "example", types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{})
	must(t, err)
	another := web.DeepCopy()
	another.UID = "another"

	_, updateErr := c.updateDeployment(t.Context(), another, desiredDeployment(foo))
	for sentence, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		"an apply to a Deployment with another UID":     {updateErr, apierrors.IsInvalid}, // a UID is immutable
		"the deletion of a Deployment with another UID": {c.deleteDeployment(t.Context(), another), apierrors.IsConflict},
		"a status of a Foo that has been scaled since":  {c.updateFooStatus(t.Context(), foo, desiredStatus(foo, web, nil, metav1.Now())), apierrors.IsConflict},
	} {
		if !test.refused(test.err) {
			t.Errorf("%s: got the error %v, want it to be refused", sentence, test.err)
		}
	}

	handedOver := c.web()
	c.ofAConfigMap(handedOver)
	handedOver.ResourceVersion = "" // so that the Deployment controller's writes don't conflict
	handedOver, err = c.kube.AppsV1().Deployments(c.namespace).Update(t.Context(), handedOver, metav1.UpdateOptions{})
	must(t, err)
	if _, err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsInvalid(err) {
		t.Errorf("an apply to a Deployment that has another controller now: got the error %v, want Invalid", err)
	}

	for range 2 { // the second time, it is gone already, as it should be
		must(t, c.deleteDeployment(t.Context(), handedOver))
	}
	if _, err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsConflict(err) {
		t.Errorf("an apply to a Deployment that is gone: got the error %v, want a conflict", err)
	}
	if _, err := c.getDeploymentUncached(t.Context(), c.namespace, "web"); !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want NotFound: the apply must not create a Deployment", err)
	}
}
