// The work on one Foo, with the four ways side by side. Each of the last three adds a few lines where
// the cache's answer is about to become a write.

package main

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// sync creates the Pods that the Foo lacks, and updates its status. An error makes the queue retry.
func (c *controller) sync(ctx context.Context, key types.NamespacedName) error {
	if c.way == trackWrites {
		if err := c.ownWrites.EnsureReady(key); err != nil {
			return err
		}
	}
	item, exists, err := c.fooCache.GetIndexer().GetByKey(key.String())
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	if !exists {
		c.ownWrites.Clear(key)
		return nil
	}
	foo := item.(*samplecontrollerv1alpha1.Foo)
	pods, err := c.podCache.GetTypedIndexer().ByTypedIndex(byOwner, key.String())
	if err != nil {
		return fmt.Errorf("list the Foo's Pods: %w", err)
	}
	found := len(pods)
	if c.way == readLive && found < int(*foo.Spec.Replicas) {
		if found, err = c.countPods(ctx, key); err != nil {
			return fmt.Errorf("list the Foo's Pods on the server: %w", err)
		}
	}
	if c.way != useExpectations || c.expected.satisfied(key) {
		if err := c.createPods(ctx, foo, int(*foo.Spec.Replicas)-found); err != nil {
			return fmt.Errorf("create a Pod: %w", err)
		}
	}
	if foo.Status.AvailableReplicas == int32(found) {
		return nil
	}
	if c.way == readLive {
		if foo, err = c.getFoo(ctx, key); err != nil {
			return fmt.Errorf("get Foo from the server: %w", err)
		}
	}
	return c.updateStatus(ctx, foo, found)
}

// getFoo asks the server. The chapter's client has no Get, but a list of one Foo is as good.
func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*samplecontrollerv1alpha1.Foo, error) {
	list, err := c.foos.List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + key.Name})
	if err != nil {
		return nil, err
	}
	if len(list.Items) == 0 {
		return nil, apierrors.NewNotFound(samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource(), key.Name)
	}
	return &list.Items[0], nil
}

// countPods asks the server.
func (c *controller) countPods(ctx context.Context, owner types.NamespacedName) (found int, err error) {
	pods, err := c.pods.List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	for i := range pods.Items {
		if ownerOf(&pods.Items[i]) == owner {
			found++
		}
	}
	return found, nil
}

// createPods creates that many Pods, or none if the number is negative.
func (c *controller) createPods(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, missing int) error {
	key := keyOf(foo)
	if missing > 0 {
		c.expected.expectCreations(key, missing)
	}
	for i := range missing {
		pod, err := c.pods.Create(ctx, newPod(metav1.NewControllerRef(foo, fooKind)), metav1.CreateOptions{})
		if err != nil {
			c.expected.creationsObserved(key, missing-i) // they won't arrive
			return err
		}
		c.ownWrites.WroteAt(key, "pods", pod.ResourceVersion)
	}
	return nil
}

func (c *controller) updateStatus(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, pods int) error {
	updated := *foo
	updated.Status.AvailableReplicas = int32(pods)
	stored, err := c.foos.UpdateStatus(ctx, &updated, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("update the status: %w", err)
	}
	c.ownWrites.WroteAt(keyOf(foo), "foos", stored.ResourceVersion)
	return nil
}
