// Optimistic concurrency, on a real API server: each write states its assumption, and if that is no
// longer true, the server refuses the write (409 Conflict).

package main

import (
	"context"
	"net/http"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// Somebody else writes between the controller's read and its write. The event that this causes leads
// to the right state.
func TestIntegrationStaleWritesAreRefused(t *testing.T) {
	annotate := func(c *realCluster) { edit(c, deploymentsPath(c.namespace)+"/web", annotated) }
	scaleFoo := func(c *realCluster) {
		edit(c, foosPath(c.namespace)+"/example", func(foo *samplecontrollerv1alpha1.Foo) { foo.Spec.Replicas = new(int32(5)) })
	}
	createWeb := func(c *realCluster) {
		c.create(deploymentOf(aFoo("example", "web", 1), unowned, annotated))
	}
	deleteWeb := func(c *realCluster) {
		must(c.t, c.users.Do(c.t.Context(), http.MethodDelete, deploymentsPath(c.namespace)+"/web", nil, nil, nil))
	}
	noError := func(err error) bool { return err == nil }
	for sentence, test := range map[string]struct {
		asksFor  string                   // the Foo's deploymentName
		existing func(*appsv1.Deployment) // the Foo's Deployment web before the write; nil: none
		write    string                   // just before it, somebody does the following
		somebody func(*realCluster)
		answer   func(error) bool
		want     []string // the Deployments in the end
	}{
		"a Deployment is annotated while it is being updated": {
			"web", scaledTo(1),
			"PUT deployments/web", annotate, apierrors.IsConflict,
			[]string{"web: 3 × nginx:latest (team blue)"},
		},
		"a Foo is scaled while its status is being written": {
			"web", scaledTo(3),
			"PUT foos/example/status", scaleFoo, apierrors.IsConflict,
			[]string{"web: 5 × nginx:latest"},
		},
		"a name is taken while a Deployment is being created": {
			"web", nil,
			"POST deployments", createWeb, apierrors.IsAlreadyExists,
			[]string{"web: 1 × nginx:latest (team blue)"},
		},
		"a former Deployment is replaced while it is being deleted": {
			"new", scaledTo(3),
			"DELETE deployments/web", func(c *realCluster) { deleteWeb(c); createWeb(c) }, apierrors.IsConflict,
			[]string{"new: 3 × nginx:latest", "web: 1 × nginx:latest (team blue)"},
		},
		"a former Deployment is deleted by somebody else, which is no error": {
			"new", scaledTo(3),
			"DELETE deployments/web", deleteWeb, noError,
			[]string{"new: 3 × nginx:latest"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			c, foo := newRealCluster(t), aFoo("example", test.asksFor, 3)
			c.create(foo)
			if test.existing != nil {
				c.create(deploymentOf(foo, named("web"), test.existing))
			}
			c.beforeNext(test.write, func() *http.Response { test.somebody(c); return nil })
			key := types.NamespacedName{Namespace: c.namespace, Name: "example"}

			if err := c.syncHandler(t.Context(), key); !test.answer(err) {
				t.Fatalf("got the error %v, want another answer", err)
			}
			c.eventually("further events lead to the right state", func(ctx context.Context) bool {
				return c.syncHandler(ctx, key) == nil && slices.Equal(c.deployments(), test.want)
			})
		})
	}
}
