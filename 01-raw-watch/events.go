// How events arrive: one watch on Foos, one on Deployments, and the work done as each event comes.

package main

import (
	"context"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/01-raw-watch/wire"
)

// controller makes for each Foo the Deployment that it asks for.
type controller struct {
	client *wire.Client

	fooReflector        *wire.Reflector
	deploymentReflector *wire.Reflector
}

// newController returns a controller of the Foos in namespace; "" means all namespaces. A watch that says nothing for as long
// as silence is taken for dead.
func newController(client *wire.Client, namespace string, silence time.Duration) *controller {
	c := &controller{
		client:              client,
		fooReflector:        wire.NewReflector(client, foosPath(namespace)),
		deploymentReflector: wire.NewReflector(client, deploymentsPath(namespace)),
	}
	c.fooReflector.Silence, c.deploymentReflector.Silence = silence, silence
	return c
}

// run acts on events, one at a time, until ctx ends.
func (c *controller) run(ctx context.Context) {
	var reflectors sync.WaitGroup
	defer reflectors.Wait()
	foos, deployments := make(chan wire.Event), make(chan wire.Event)
	reflectors.Go(func() { c.fooReflector.Run(ctx, foos) })
	reflectors.Go(func() { c.deploymentReflector.Run(ctx, deployments) })
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-foos:
			c.handleFoo(ctx, event)
		case event := <-deployments:
			c.handleObject(ctx, event)
		}
	}
}

// handleFoo acts on a Foo that was added or changed. For a deleted one there is nothing to do: its Deployment has an
// owner reference to it, so the garbage collector deletes that.
func (c *controller) handleFoo(ctx context.Context, event wire.Event) {
	if event.Type != watch.Deleted {
		c.handle(ctx, types.NamespacedName{Namespace: event.Object.Namespace, Name: event.Object.Name})
	}
}

// handleObject acts on the Foos that a change of a Deployment may concern.
func (c *controller) handleObject(ctx context.Context, event wire.Event) {
	deployment := &event.Object
	keys, err := c.foosOf(ctx, deployment)
	if err != nil && ctx.Err() == nil {
		klog.ErrorS(err, "Lost an event: nothing will try again", "deployment", klog.KObj(deployment))
	}
	for _, key := range keys {
		c.handle(ctx, key)
	}
}

// foosOf returns the keys of the Foos that a change of deployment may concern: the one that controls it, and those that want
// its name and may have it now, or no longer.
func (c *controller) foosOf(ctx context.Context, deployment metav1.Object) ([]types.NamespacedName, error) {
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

// isFoo tells whether an owner reference names a Foo of our group, in any version, and not somebody else's kind of the same name.
func isFoo(owner *metav1.OwnerReference) bool {
	groupVersion, err := schema.ParseGroupVersion(owner.APIVersion)
	return err == nil && groupVersion.Group == v1alpha1.GroupVersion.Group && owner.Kind == "Foo"
}

// handle brings one Foo up to date. After a conflict there is nothing more to do: whoever wrote first has caused an event,
// and that brings us back. After any other failure nothing brings us back until something else happens to this Foo or
// its Deployment. Chapter 03 mends that.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	err := c.syncHandler(ctx, key)
	switch {
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		klog.V(2).InfoS("Someone else wrote first", "foo", key, "err", err)
	case err != nil && ctx.Err() == nil:
		klog.ErrorS(err, "Lost an event: nothing will try again", "foo", key)
	}
}
