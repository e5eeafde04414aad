// The event handlers. They find the Foos that an event concerns, and call handle for each of them.
// This file is nearly the same in chapters 01 to 04.

package main

import (
	"context"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// handleFoo handles a Foo that was added or changed. A deleted Foo needs no work: its Deployment
// has an owner reference to it, so the garbage collector deletes the Deployment.
func (c *controller) handleFoo(ctx context.Context, foo metav1.Object) {
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Foo", "object", klog.KObj(foo), "resourceVersion", foo.GetResourceVersion())
	c.handle(ctx, types.NamespacedName{Namespace: foo.GetNamespace(), Name: foo.GetName()})
}

// handleObject handles the Foos that a change to a Deployment may concern.
func (c *controller) handleObject(ctx context.Context, deployment metav1.Object) {
	klog.FromContext(ctx).V(4).Info("Event received", "kind", "Deployment", "object", klog.KObj(deployment), "resourceVersion", deployment.GetResourceVersion())
	keys, err := c.findFoosForDeployment(ctx, deployment)
	if err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Lost an event: nothing will retry it", "deployment", klog.KObj(deployment))
	}
	for _, key := range keys {
		c.handle(ctx, key)
	}
}

// findFoosForDeployment returns the keys of the Foos that a change to deployment may concern: the
// Foo that controls it, and the Foos that ask for its name, which may be free now.
func (c *controller) findFoosForDeployment(ctx context.Context, deployment metav1.Object) ([]types.NamespacedName, error) {
	foos, err := c.listFoos(ctx, deployment.GetNamespace(), deployment.GetName())
	if err != nil {
		return nil, err
	}
	var keys []types.NamespacedName
	for _, foo := range foos {
		keys = append(keys, types.NamespacedName{Namespace: foo.Namespace, Name: foo.Name})
	}
	if owner := metav1.GetControllerOf(deployment); owner != nil && isFoo(owner) {
		key := types.NamespacedName{Namespace: deployment.GetNamespace(), Name: owner.Name}
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys, nil
}

// isFoo reports whether an owner reference names a Foo of our API group, in any version. Another
// group may have a kind of the same name.
func isFoo(owner *metav1.OwnerReference) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == samplecontrollerv1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}
