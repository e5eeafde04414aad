// How the controller handles a Foo when its cache is behind. A create would fail then, but an apply
// changes an existing Deployment, so the controller asks the server before it creates one.

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clienttesting "k8s.io/client-go/testing"
)

func TestAStaleCacheCreatesNothingTwice(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		onServer  *appsv1.Deployment // which the cache doesn't have yet
		wantReady string
		wantApply bool
	}{
		"it is ours, created by our last write":          {deploymentOf(foo), "Progressing", false},
		"it is ours, and somebody has already scaled it": {deploymentOf(foo, scaledTo(1)), "Progressing", true},
		"it is ours, and being deleted":                  {deploymentOf(foo, scaledTo(1), terminating), "Terminating", false},
		"it is somebody else's":                          {deploymentOf(foo, scaledTo(1), unowned), "ErrResourceExists", false},
		"it is somebody else's, but has our values":      {deploymentOf(foo, unowned), "ErrResourceExists", false},
		"it belongs to an earlier Foo of the same name":  {deploymentOf(foo, ofAnEarlierFoo), "ErrResourceExists", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, foo)
			c.informed()
			c.put(test.onServer)

			must(t, c.syncHandler(t.Context(), types.NamespacedName{Namespace: "default", Name: "example"}))

			if got := c.foo("example").Status.Conditions[0].Reason; got != test.wantReady {
				t.Errorf("Ready has the reason %q, want %q", got, test.wantReady)
			}
			if got := c.sent("patch") > 0; got != test.wantApply {
				t.Errorf("the Deployment was applied: %v, want %v", got, test.wantApply)
			}
			if got, want := *c.deployment("web").Spec.Replicas, int32(3); test.wantApply && got != want {
				t.Errorf("the Deployment has %d replicas, want %d", got, want)
			}
		})
	}
}

// sent counts the controller's requests with that verb for Deployments.
func (c *cluster) sent(verb string) (count int) {
	for _, action := range c.fakeKube.Actions() {
		if action.Matches(verb, "deployments") {
			count++
		}
	}
	return count
}

// The controller spends a request only if the cache has no Deployment, which is before a create.
func TestTheServerIsAskedOnlyIfTheCacheHasNoDeployment(t *testing.T) {
	foo := aFoo("example", "web", 3)
	for sentence, test := range map[string]struct {
		given []metav1.Object
		want  int
	}{
		"the cache has ours":            {[]metav1.Object{foo, deploymentOf(foo, scaledTo(1))}, 0},
		"the cache has somebody else's": {[]metav1.Object{foo, deploymentOf(foo, unowned)}, 0},
		"the cache has none":            {[]metav1.Object{foo}, 1},
	} {
		t.Run(sentence, func(t *testing.T) {
			c := newCluster(t, test.given...)
			must(t, c.sync("example"))
			if got := c.sent("get"); got != test.want {
				t.Errorf("got %d GET requests, want %d", got, test.want)
			}
		})
	}
}

// If the server doesn't answer whether there is a Deployment, the controller creates none.
func TestAFailedGetCreatesNothing(t *testing.T) {
	c := newCluster(t, aFoo("example", "web", 3))
	c.fakeKube.PrependReactor("get", "deployments", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewInternalError(errors.New("the disk is full"))
	})

	if err := c.sync("example"); !apierrors.IsInternalError(err) {
		t.Errorf("got the error %v, want that the disk is full", err)
	}
	if diff := cmp.Diff([]string(nil), c.deployments()); diff != "" {
		t.Errorf("Deployments (-want +got):\n%s", diff)
	}
}
