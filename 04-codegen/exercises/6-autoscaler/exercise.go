//go:build !solution

// Command 6-autoscaler is a controller for Foos. A Foo asks for a Deployment, and says who decides
// how many replicas that has.
package main

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/klog/v2"
	"k8s.io/utils/ptr"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "foo-controller"

// replicasManagedBy is an annotation for Foos whose Deployment is scaled by someone else, such as
// an autoscaler. Its value names that program, for people. The spec.replicas of such a Foo doesn't
// count.
const replicasManagedBy = "samplecontroller.k8s.io/replicas-managed-by"

// syncHandler makes the cluster match the Foo with that key.
func (c *controller) syncHandler(ctx context.Context, key types.NamespacedName) error {
	foo, err := c.foosLister.Foos(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Foo: %w", err)
	}
	if !foo.DeletionTimestamp.IsZero() {
		return nil
	}

	// If the cache has no Deployment, it may be behind, so ask the server.
	name, desired := foo.Spec.DeploymentName, desiredDeployment(foo)
	deployments := c.kube.AppsV1().Deployments(foo.Namespace)
	observed, err := c.deploymentsLister.Deployments(foo.Namespace).Get(name)
	if apierrors.IsNotFound(err) {
		observed, err = deployments.Get(ctx, name, metav1.GetOptions{})
	}
	options := metav1.ApplyOptions{FieldManager: fieldOwner}
	switch {
	case apierrors.IsNotFound(err):
		klog.FromContext(ctx).Info("Creating", "deployment", klog.KRef(foo.Namespace, name))
	case err != nil:
		return fmt.Errorf("get Deployment %s: %w", name, err)
	case !metav1.IsControlledBy(observed, foo), upToDate(observed, desired):
		return nil
	default:
		// The UID makes sure that this apply changes our Deployment, and no other one of that name.
		klog.FromContext(ctx).Info("Updating", "deployment", klog.KObj(observed))
		options.Force = true
		desired.WithUID(observed.UID)
	}
	if _, err := deployments.Apply(ctx, desired, options); err != nil {
		return fmt.Errorf("apply Deployment %s: %w", name, err)
	}
	return nil
}

// desiredDeployment returns the Deployment that foo asks for.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithLabels(labels).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).
			WithKind("Foo").
			WithName(foo.Name).
			WithUID(foo.UID).
			WithController(true).
			WithBlockOwnerDeletion(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(replicasOf(foo)).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("nginx").WithImage("nginx:latest")))))
}

// replicasOf returns how many replicas foo asks for. If someone else decides that, one is enough to
// begin with.
func replicasOf(foo *samplecontrollerv1alpha1.Foo) int32 {
	if foo.Annotations[replicasManagedBy] != "" {
		return 1
	}
	return ptr.Deref(foo.Spec.Replicas, 1)
}

// upToDate reports whether observed has the values that desired sets. Other fields may have any
// value.
func upToDate(observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) bool {
	want, have := desired.Spec, observed.Spec
	return labels.SelectorFromSet(desired.Labels).Matches(labels.Set(observed.Labels)) &&
		(want.Replicas == nil || ptr.Equal(want.Replicas, have.Replicas)) &&
		slices.Equal(imagesOf(have), []string{*want.Template.Spec.Containers[0].Image})
}

func imagesOf(spec appsv1.DeploymentSpec) (images []string) {
	for _, container := range spec.Template.Spec.Containers {
		images = append(images, container.Image)
	}
	return images
}
