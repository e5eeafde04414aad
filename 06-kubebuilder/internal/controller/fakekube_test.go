// A fake client in place of an API server: controller-runtime's own. It merges an apply as the types' schema says, notes owners, and
// without force a field that somebody else owns is a conflict; it compares resourceVersions, and refuses an apply with the UID of
// something that isn't there. What it lacks (v0.25: client/fake, and client-go's testing under it), and what is done about it:
//   - Assumptions: the UID of an apply is put into the object that is there, not compared with its own, and nobody looks at the
//     UID that a delete says. So write_test.go looks at what is sent; what a real server says to it is in refused_test.go.
//   - The schema of Foos: it has none, so each of their lists has one owner. Conditions are in apply_test.go.
//   - Status: WithStatusSubresource keeps it apart from the rest, but an object may be created with one. And an apply to either owns
//     both from then on. So who owns what is asked in apply_test.go alone.
//   - Validation: a second controller among the owners goes through, and a changed selector. Nothing is defaulted.
//   - UIDs and generations: nobody sets them. So keepBooks does, where they are looked at. resourceVersions are counted for each object
//     by itself, unless it is told otherwise.
//   - A cache: what is written is read at once. So there is a second fake client, for what the cache has: see informed.
//   - The garbage collector, the Deployment controller and all others: no Pod comes up unless a test says so.
//   - A manager: it wants a server to watch. Where events matter, envtest takes over: see watch_test.go.

package controller

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
)

var (
	foosResource        = v1alpha1.GroupVersion.WithResource("foos")
	deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")
)

// newFake returns a fake client to be, with our types and the cache's indexes.
func newFake() *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme.Scheme).
		WithStatusSubresource(&v1alpha1.Foo{}).
		WithIndex(&v1alpha1.Foo{}, byDeploymentName, indexByDeploymentName).
		WithIndex(&appsv1.Deployment{}, byOwner, indexByOwner)
}

// request is what the controller has asked the server for.
type request struct {
	verb, resource, name string
	says                 string // in whose name it comes and what it assumes
}

func (r request) String() string { return r.verb + " " + r.resource }

// funcs answer the controller's client: reads come from the cache, and writes are noted and go to the server, unless the test has
// said that they are refused.
func (c *cluster) funcs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if err := c.refused("get " + resourceOf(c.t, c.server, into)); err != nil {
				return err
			}
			return c.cache.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if err := c.refused("list " + resourceOf(c.t, c.server, into)); err != nil {
				return err
			}
			return c.cache.List(ctx, into, options...)
		},
		Apply: func(ctx context.Context, server client.WithWatch, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			var with client.ApplyOptions
			with.ApplyOptions(options)
			sent := applyRequest(c.t, "deployments", desired, with)
			if err := c.asked(sent); err != nil {
				return err
			}
			if c.beforeApply != nil {
				c.beforeApply()
			}
			if err := server.Apply(ctx, desired, options...); err != nil {
				return err
			}
			c.keepBooks(sent.name)
			return nil
		},
		SubResourceApply: func(ctx context.Context, server client.Client, subresource string,
			desired runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			var with client.SubResourceApplyOptions
			with.ApplyOpts(options)
			if err := c.asked(applyRequest(c.t, "foos/"+subresource, desired, with.ApplyOptions)); err != nil {
				return err
			}
			return server.SubResource(subresource).Apply(ctx, desired, options...)
		},
		Delete: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			var with client.DeleteOptions
			with.ApplyOptions(options)
			says := ""
			if with.Preconditions != nil {
				says = fmt.Sprintf("if it is %q", ptr.Deref(with.Preconditions.UID, ""))
			}
			if err := c.asked(request{"delete", resourceOf(c.t, c.server, object), object.GetName(), says}); err != nil {
				return err
			}
			return server.Delete(ctx, object, options...)
		},
	}
}

// liveGet answers the reader that doesn't ask the cache.
func (c *cluster) liveGet(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
	if err := c.asked(request{"live get", resourceOf(c.t, c.server, into), key.Name, ""}); err != nil {
		return err
	}
	return server.Get(ctx, key, into, options...)
}

// applyRequest says what an apply says, beside the fields that it wants.
func applyRequest(t *testing.T, resource string, desired runtime.ApplyConfiguration, options client.ApplyOptions) request {
	text, err := json.Marshal(desired)
	must(t, err)
	var object metav1.PartialObjectMetadata
	must(t, json.Unmarshal(text, &object))
	says := "by " + options.FieldManager
	if ptr.Deref(options.Force, false) {
		says += ", forced"
	}
	if object.UID != "" {
		says += fmt.Sprintf(", if it is %q", object.UID)
	}
	if object.ResourceVersion != "" {
		says += " at " + object.ResourceVersion
	}
	return request{"apply", resource, object.Name, says}
}

// resourceOf returns the resource that an object, or a list of them, is of.
func resourceOf(t *testing.T, types client.Client, object runtime.Object) string {
	kind, err := types.GroupVersionKindFor(object)
	must(t, err)
	switch kind.Kind {
	case "Foo", "FooList":
		return "foos"
	case "Deployment", "DeploymentList":
		return "deployments"
	}
	t.Fatalf("the controller asks for a %s", kind.Kind)
	return ""
}

// keepBooks does what a server does to a Deployment that is applied.
func (c *cluster) keepBooks(name string) {
	deployment := c.deployment(name)
	if deployment == nil {
		return
	}
	if deployment.UID == "" {
		deployment.UID = types.UID("uid of " + name)
	}
	deployment.Generation++
	must(c.t, c.server.Update(c.t.Context(), deployment))
}

// asked notes a request, and returns the error that it is answered with, if the test wants one.
func (c *cluster) asked(what request) error {
	c.requests = append(c.requests, what)
	return c.refused(what.String())
}

// refuseNext has the next such request answered with err: "apply deployments", "live get deployments", "delete deployments",
// "apply foos/status"; and of the cache "get foos", "get deployments", "list deployments".
func (c *cluster) refuseNext(request string, err error) { c.refusals[request] = err }

func (c *cluster) refused(request string) error {
	err := c.refusals[request]
	delete(c.refusals, request)
	return err
}

// written returns the writes that the controller has sent since it was last asked for them, refused ones too.
func (c *cluster) written() []string {
	var writes []string
	for _, request := range c.requests {
		if request.verb != "live get" {
			writes = append(writes, request.String())
		}
	}
	c.requests = nil
	return writes
}
