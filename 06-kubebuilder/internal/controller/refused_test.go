// What a real server refuses of what the controller sends, where the fake client lets it through: see write_test.go.

package controller

import (
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestStaleWritesAreRefused(t *testing.T) {
	c := newBareCluster(t)
	foo := c.create(example)
	must(t, c.createDeployment(t.Context(), desiredDeployment(foo)))
	web, err := c.deployment(t.Context(), "web")
	must(t, err)
	c.change(`{"replicas":5}`)
	another, gone := web.DeepCopy(), foo.DeepCopy()
	another.UID = "another"
	gone.Name = "gone"

	for name, test := range map[string]struct {
		err     error
		refused func(error) bool
	}{
		// A UID can't be changed.
		"an apply to a Deployment of another UID":      {c.updateDeployment(t.Context(), another, desiredDeployment(foo)), apierrors.IsInvalid},
		"the deletion of a Deployment of another UID":  {c.deleteDeployment(t.Context(), another), apierrors.IsConflict},
		"a status of a Foo that has been scaled since": {c.updateFooStatus(t.Context(), foo, desiredStatus(foo, web, now)), apierrors.IsConflict},
		"a status of a Foo that is gone":               {c.updateFooStatus(t.Context(), gone, desiredStatus(gone, web, now)), apierrors.IsNotFound},
	} {
		if !test.refused(test.err) {
			t.Errorf("%s: got the error %v, want that it is refused", name, test.err)
		}
	}

	handedOver, err := c.deployment(t.Context(), "web")
	must(t, err)
	ofAConfigMap(handedOver)
	must(t, c.users.Update(t.Context(), handedOver))
	if err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsInvalid(err) {
		t.Errorf("an apply to a Deployment that somebody else controls by now: got the error %v, want that it is invalid", err)
	}

	must(t, c.deleteDeployment(t.Context(), handedOver))
	must(t, c.deleteDeployment(t.Context(), handedOver)) // it is gone, as it should be
	if err := c.updateDeployment(t.Context(), web, desiredDeployment(foo)); !apierrors.IsConflict(err) {
		t.Errorf("an apply to a Deployment that is gone: got the error %v, want a conflict", err)
	}
	if _, err := c.deployment(t.Context(), "web"); !apierrors.IsNotFound(err) {
		t.Errorf("got the error %v, want that no Deployment was made", err)
	}
}
