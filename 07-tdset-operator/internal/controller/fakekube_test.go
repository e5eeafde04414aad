// The API server of these tests: controller-runtime's fake client, which leaves out a lot. It
// ignores the UID that a write assumes (write_test.go checks the requests, and refused_test.go asks
// a real API server). It has no validation and no defaults. It sets no UIDs and no generations, so
// setServerFields does. There are no other controllers, no garbage collector and no cache, for
// which there is a second fake client: see informed.

package controller

import (
	"context"
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

var tdsetsResource = schema.GroupResource{Group: schedulev2.GroupVersion.Group, Resource: "tdsets"}

// newFake returns a builder of a fake client with our types.
func newFake() *fake.ClientBuilder {
	return fake.NewClientBuilder().WithScheme(scheme.Scheme).WithStatusSubresource(&schedulev2.TDSet{})
}

// funcs intercept the controller's client. Reads come from the cache. Writes are recorded, and go
// to the API server unless the test refuses them.
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
			sent := applyRequest(c.t, "", desired, with)
			if err := c.asked(sent); err != nil {
				return err
			}
			if c.beforeApply != nil {
				c.beforeApply()
			}
			if err := server.Apply(ctx, desired, options...); err != nil {
				return err
			}
			c.setServerFields(sent)
			return nil
		},
		SubResourceApply: func(ctx context.Context, server client.Client, subresource string,
			desired runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			var with client.SubResourceApplyOptions
			with.ApplyOpts(options)
			if err := c.asked(applyRequest(c.t, "/"+subresource, desired, with.ApplyOptions)); err != nil {
				return err
			}
			return server.SubResource(subresource).Apply(ctx, desired, options...)
		},
		Patch: func(ctx context.Context, server client.WithWatch,
			object client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			var with client.PatchOptions
			with.ApplyOptions(options)
			text, err := patch.Data(object)
			must(c.t, err)
			var sent metav1.PartialObjectMetadata
			must(c.t, json.Unmarshal(text, &sent))
			details := "by " + with.FieldManager + assumed(sent)
			if err := c.asked(request{"patch", resourceOf(c.t, c.server, object), object.GetName(), details}); err != nil {
				return err
			}
			return server.Patch(ctx, object, patch, options...)
		},
		Update: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			// Only the museum's operators send updates.
			if err := c.asked(request{"update", resourceOf(c.t, c.server, object), object.GetName(), ""}); err != nil {
				return err
			}
			return server.Update(ctx, object, options...)
		},
		Delete: func(ctx context.Context, server client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			var with client.DeleteOptions
			with.ApplyOptions(options)
			var assumes metav1.PartialObjectMetadata
			if with.Preconditions != nil {
				assumes.UID = ptr.Deref(with.Preconditions.UID, "")
			}
			if err := c.asked(request{"delete", resourceOf(c.t, c.server, object), object.GetName(), assumed(assumes)}); err != nil {
				return err
			}
			return server.Delete(ctx, object, options...)
		},
	}
}

// apiReaderFuncs intercept the client that reads from the API server.
func (c *cluster) apiReaderFuncs() interceptor.Funcs {
	return interceptor.Funcs{
		Get: func(ctx context.Context, server client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if err := c.asked(request{"uncached get", resourceOf(c.t, c.server, into), key.Name, ""}); err != nil {
				return err
			}
			return server.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, server client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			if err := c.asked(request{"uncached list", resourceOf(c.t, c.server, into), "", ""}); err != nil {
				return err
			}
			return server.List(ctx, into, options...)
		},
	}
}

// setServerFields sets the fields that an API server sets in an applied object: a UID, and the
// generation of a Deployment.
func (c *cluster) setServerFields(applied request) {
	if applied.resource == "services" {
		service := c.service()
		if service != nil && service.UID == "" {
			before := service.DeepCopy()
			service.UID = types.UID("uid of Service " + service.Name)
			must(c.t, c.server.Patch(c.t.Context(), service, client.MergeFrom(before)))
		}
		return
	}
	deployment := c.deployment()
	if deployment == nil {
		return
	}
	before := deployment.DeepCopy()
	if deployment.UID == "" {
		deployment.UID = types.UID("uid of Deployment " + deployment.Name)
	}
	deployment.Generation++
	must(c.t, c.server.Patch(c.t.Context(), deployment, client.MergeFrom(before)))
}

// becomesAvailable acts as the Deployment controller: all desired Pods are available, and all
// others are gone.
func (c *cluster) becomesAvailable(deployment *appsv1.Deployment) {
	before := deployment.DeepCopy()
	withPods(replicasOf(deployment))(deployment)
	must(c.t, c.server.Status().Patch(c.t.Context(), deployment, client.MergeFrom(before)))
}
