// How writes leave: each says what it assumes. The fake clientset doesn't look at that, so these
// tests look at what is sent. What a server says to it is in chapter 03's integration_test.go.

package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clienttesting "k8s.io/client-go/testing"
)

func TestWritesSayWhatTheyAssume(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, deploymentOf(foo), renamed, deploymentOf(renamed, scaledTo(1))) // resourceVersions 1, 2 and 3

	for range 2 { // the update, then the rest
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

// A former Deployment that somebody else deletes first is gone, as it should be: that is no
// failure.
func TestDeletingWhatIsGone(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.refuseNext("delete", "deployments", apierrors.NewNotFound(deploymentsResource.GroupResource(), "web"))

	if err := c.sync("example"); err != nil {
		t.Fatal(err)
	}

	if got := c.ready("example"); got != "Progressing" {
		t.Errorf("Ready has the reason %q: the work ended half way", got)
	}
}
