// Each write states its assumption. The fake clientset ignores that, so these tests check the
// requests. Chapter 03's integration_test.go checks a real server's response.

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
)

func TestWritesStateTheirAssumptions(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, deploymentOf(foo), renamed, deploymentOf(renamed, scaledTo(1))) // resourceVersions 1, 2 and 3

	for range 2 { // first the update, then the other writes
		if err := c.sync("example"); err != nil {
			t.Fatal(err)
		}
	}

	var assumed []string
	for _, action := range append(c.fakeKube.Actions(), c.fakeFoos.Actions()...) {
		switch action := action.(type) {
		case clienttesting.UpdateActionImpl:
			object := action.Object.(metav1.Object)
			assumed = append(assumed, fmt.Sprintf("update %s %s if it is at %s", resourceOf(action), object.GetName(), object.GetResourceVersion()))
		case clienttesting.DeleteActionImpl:
			assumed = append(assumed, fmt.Sprintf("delete %s %s if it is %q", resourceOf(action), action.Name, *action.DeleteOptions.Preconditions.UID))
		}
	}
	want := []string{
		"update deployments new if it is at 3",
		`delete deployments web if it is "uid of web"`,
		"update foos/status example if it is at 2",
	}
	if diff := cmp.Diff(want, assumed); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// If somebody else has deleted a former Deployment first, that is no error, because it is gone as
// it should be.
func TestDeletingADeletedDeployment(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.refuseNext("delete", "deployments", apierrors.NewNotFound(deploymentsResource.GroupResource(), "web"))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	if got := c.ready("example"); got != "Progressing" {
		t.Errorf("Ready has the reason %q, want Progressing", got)
	}
}
