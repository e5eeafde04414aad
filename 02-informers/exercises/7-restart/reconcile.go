// The work on one Foo.

package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/listers"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// handle syncs one Foo and doesn't retry. After a failure, the Foo waits until something happens to
// it or its Deployment.
func (c *controller) handle(ctx context.Context, key types.NamespacedName) {
	// Each handler runs in its own goroutine, and two could call this for the same Foo at once.
	c.working.Lock()
	defer c.working.Unlock()
	logger := klog.FromContext(ctx).WithValues("foo", key)
	logger.V(4).Info("Work started")
	err := c.syncHandler(klog.NewContext(ctx, logger), key)
	logger.V(4).Info("Work finished", "err", err)
	if err != nil && ctx.Err() == nil {
		logger.Error(err, "Lost an event: nothing will retry it")
	}
}

// syncHandler makes sure that the Foo has one Deployment, with the right number of replicas.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) error {
	// 1. Read the Foo and its Deployments from the caches. A Deployment is found by its owner and
	// not by its name, because the name that the Foo asks for may have changed.
	foo, err := listers.NewNamespaced(c.foosLister, key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil // the garbage collector deletes the Deployment
	}
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	deployments, err := c.deploymentInformer.GetTypedIndexer().ByTypedIndex(byOwner, string(foo.UID))
	if err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	logger, client := klog.FromContext(ctx), c.kube.AppsV1().Deployments(foo.Namespace)

	// 2. Create its Deployment, if it has none.
	if len(deployments) == 0 {
		if !foo.DeletionTimestamp.IsZero() {
			return nil
		}
		logger.Info("Creating", "deployment", foo.Spec.DeploymentName)
		if _, err := client.Create(ctx, newDeployment(foo), metav1.CreateOptions{}); err != nil {
			return fmt.Errorf("create Deployment %s: %w", foo.Spec.DeploymentName, err)
		}
		return nil
	}

	// 3. If it has several, keep the oldest.
	slices.SortFunc(deployments, func(a, b *appsv1.Deployment) int {
		return cmp.Or(a.CreationTimestamp.Compare(b.CreationTimestamp.Time), cmp.Compare(a.Name, b.Name))
	})
	for _, surplus := range deployments[1:] {
		logger.Info("Deleting", "deployment", surplus.Name)
		options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(surplus.UID))}
		if err := client.Delete(ctx, surplus.Name, options); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Deployment %s: %w", surplus.Name, err)
		}
	}

	// 4. Scale it.
	deployment := deployments[0]
	if !deployment.DeletionTimestamp.IsZero() || ptr.Deref(deployment.Spec.Replicas, 1) == ptr.Deref(foo.Spec.Replicas, 1) {
		return nil
	}
	logger.Info("Scaling", "deployment", deployment.Name)
	scaled := deployment.DeepCopy() // all readers share the cached object
	scaled.Spec.Replicas = foo.Spec.Replicas
	if _, err := client.Update(ctx, scaled, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("scale Deployment %s: %w", deployment.Name, err)
	}
	return nil
}

// newDeployment returns the Deployment that foo asks for.
func newDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:            foo.Spec.DeploymentName,
			Namespace:       foo.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo"))},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: foo.Spec.Replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx:latest"}}},
			},
		},
	}
}
