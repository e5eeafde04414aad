// How writes leave: each says in whose name it comes and what it assumes. The fake client looks at half of the assumptions, so these
// tests look at what is sent; what a server says to it is in refused_test.go.

package controller

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWritesSayWhatTheyAssume(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, deploymentOf(foo), renamed) // resourceVersions 1 and 2

	for _, changeByHand := range []func(){
		func() {},
		func() { c.put(deploymentOf(renamed, scaledTo(1))) },
		func() {},
	} {
		changeByHand()
		must(t, c.sync("example"))
	}

	var assumed []string
	for _, request := range c.requests {
		if request.verb != "live get" {
			assumed = append(assumed, fmt.Sprintf("%s %s %s", request, request.name, request.says))
		}
	}
	want := []string{
		"apply deployments new by foo-controller",
		`apply deployments new by foo-controller, forced, if it is "uid of new"`,
		`delete deployments web if it is "uid of web"`,
		`apply foos/status example by foo-controller, forced, if it is "uid of example" at 2`,
	}
	if diff := cmp.Diff(want, assumed); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// A status is applied field by field: none may be forgotten.
func TestAStatusIsAppliedWhole(t *testing.T) {
	c := newCluster(t, aFoo("example", "web", 3))
	want := status(3, ready(metav1.ConditionTrue, "Available", "all is well"))

	must(t, c.updateFooStatus(t.Context(), c.foo("example"), want))

	if diff := cmp.Diff(want, c.foo("example").Status); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
}

// The status is written at its own endpoint. If the Foo has been scaled or made anew since it was read, the server refuses it.
func TestAStatusOfAnOlderFooIsRefused(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, change := range map[string]func(*cluster){
		"it has been scaled":    func(c *cluster) { c.put(aFoo("example", "web", 5)) },
		"it has been made anew": func(c *cluster) { c.remove(foo); c.put(foo) },
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, foo, deploymentOf(foo, available(3)))
			c.informed()
			change(c)
			before := c.foo("example")

			err := c.reconcile("example")

			if !apierrors.IsConflict(err) {
				t.Errorf("got the error %v, want a conflict", err)
			}
			if diff := cmp.Diff(before, c.foo("example")); diff != "" {
				t.Errorf("the Foo was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// A former Deployment that somebody else deletes first is gone, as it should be: that is no failure.
func TestDeletingWhatIsGone(t *testing.T) {
	foo, renamed := aFoo("example", "web", 3), aFoo("example", "new", 3)
	c := newCluster(t, renamed, deploymentOf(foo), deploymentOf(renamed))
	c.refuseNext("delete deployments", apierrors.NewNotFound(deploymentsResource.GroupResource(), "web"))

	must(t, c.sync("example"))

	if got := c.ready("example"); got != "Progressing" {
		t.Errorf("Ready has the reason %q: the work ended half way", got)
	}
}
