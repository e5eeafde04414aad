// The controller's requests in a cluster for tests, which records and refuses them.

package controller

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// refuseNext makes the next such request fail with err: "apply deployments", "patch tdsets" or
// "apply tdsets/status". Reads from the cache are "get tdsets" and "list pods", and reads from the
// API server have the prefix "uncached".
func (c *cluster) refuseNext(request string, err error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.refusals[request] = err
}

// refuseAll makes all such requests fail with err, from now on.
func (c *cluster) refuseAll(request string, err error) {
	c.refuseNext(request, err)
	c.refuseNext("all: "+request, err)
}

// asked returns the error that the test has set for a request, if any. It records writes.
func (c *cluster) asked(verb string, object any, subresource string) error {
	_, kind, _ := strings.Cut(fmt.Sprintf("%T", object), ".") // DeploymentList, DeploymentApplyConfiguration
	kind = strings.TrimSuffix(strings.TrimSuffix(kind, "List"), "ApplyConfiguration")
	kind = strings.Replace(kind, "PartialObjectMetadata", "Pod", 1)
	resource, _ := meta.UnsafeGuessKindToResource(schema.GroupVersionKind{Kind: kind})
	request := verb + " " + resource.Resource + subresource
	c.lock.Lock()
	defer c.lock.Unlock()
	if isRead := strings.HasSuffix(verb, "get") || strings.HasSuffix(verb, "list"); !isRead {
		c.writes = append(c.writes, request)
	}
	err := c.refusals[request]
	if c.refusals["all: "+request] == nil {
		delete(c.refusals, request)
	}
	return err
}

// written returns the writes that the controller has sent since the last call, including refused
// ones.
func (c *cluster) written() []string {
	c.lock.Lock()
	defer c.lock.Unlock()
	writes := c.writes
	c.writes = nil
	return writes
}

// reads intercept reads, which are from somewhere else. Their verbs have a prefix.
func (c *cluster) reads(prefix string, from func() client.Reader) interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, _ client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if err := c.asked(prefix+"get", into, ""); err != nil {
				return err
			}
			return from().Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, _ client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if err := c.asked(prefix+"list", into, ""); err != nil {
				return err
			}
			return from().List(ctx, into, options...)
		},
	}
}

// writeFuncs intercept writes.
func (c *cluster) writeFuncs() interceptor.Funcs {
	return interceptor.Funcs{
		Apply: func(ctx context.Context, server client.WithWatch, desired runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := c.asked("apply", desired, ""); err != nil {
				return err
			}
			if before := c.beforeApply; before != nil {
				c.beforeApply = nil
				before()
			}
			err := server.Apply(ctx, desired, options...)
			if _, isDeployment := desired.(*appsv1ac.DeploymentApplyConfiguration); isDeployment && err == nil { // as an API server does
				deployment := c.deployment()
				before := deployment.DeepCopy()
				deployment.Generation++
				err = server.Patch(ctx, deployment, client.MergeFrom(before))
			}
			return err
		},
		SubResourceApply: func(ctx context.Context, server client.Client, subresource string,
			desired runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			if err := c.asked("apply", desired, "/"+subresource); err != nil {
				return err
			}
			return server.SubResource(subresource).Apply(ctx, desired, options...)
		},
		Patch: func(ctx context.Context, server client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := c.asked("patch", object, ""); err != nil {
				return err
			}
			return server.Patch(ctx, object, patch, options...)
		},
		Update: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			if err := c.asked("update", object, ""); err != nil { // only the museum's operators send updates
				return err
			}
			return server.Update(ctx, object, options...)
		},
		Delete: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			if err := c.asked("delete", object, ""); err != nil {
				return err
			}
			return server.Delete(ctx, object, options...)
		},
	}
}
