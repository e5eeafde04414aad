// How writes leave: client-go's Create, Update and Delete. Each carries what it assumes (a resourceVersion or a
// UID), so that the API server refuses it with 409 Conflict if that is no longer true: whoever made it untrue wins.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// createDeployment assumes that there is none of that name: otherwise the server answers 409, reason AlreadyExists.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) error {
	_, err := c.client.AppsV1().Deployments(desired.Namespace).Create(ctx, desired, metav1.CreateOptions{})
	return err
}

// updateDeployment sends all of observed, with what desired sets put over it. The resourceVersion in it is the
// assumption: had someone else written meanwhile, this update would undo their change, so the server refuses it.
func (c *controller) updateDeployment(ctx context.Context, observed, desired *appsv1.Deployment) error {
	merged := merge(observed, desired)
	_, err := c.client.AppsV1().Deployments(merged.Namespace).Update(ctx, merged, metav1.UpdateOptions{})
	return err
}

// merge returns observed with what desired sets put over it, and all else left as it is.
func merge(observed, desired *appsv1.Deployment) *appsv1.Deployment {
	merged := observed.DeepCopy()
	merged.Labels = withLabels(merged.Labels, desired.Labels)
	merged.Spec.Replicas = desired.Spec.Replicas
	template := &merged.Spec.Template
	template.Labels = withLabels(template.Labels, desired.Spec.Template.Labels)
	want := desired.Spec.Template.Spec.Containers[0]
	for i := range template.Spec.Containers {
		if container := &template.Spec.Containers[i]; container.Name == want.Name {
			container.Image, container.ImagePullPolicy = want.Image, want.ImagePullPolicy
			return merged
		}
	}
	template.Spec.Containers = append(template.Spec.Containers, want)
	return merged
}

// withLabels returns labels with those in want set.
func withLabels(labels, want map[string]string) map[string]string {
	if labels == nil {
		labels = map[string]string{}
	}
	for key, value := range want {
		labels[key] = value
	}
	return labels
}

// deleteDeployment assumes the UID: it deletes this Deployment, not another that has taken its name. One that is gone
// already is what we wanted.
func (c *controller) deleteDeployment(ctx context.Context, deployment *appsv1.Deployment) error {
	options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(deployment.UID))}
	err := c.client.AppsV1().Deployments(deployment.Namespace).Delete(ctx, deployment.Name, options)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// updateFooStatus sends foo with that status to the status subresource, which ignores all but the status. The
// resourceVersion is foo's: a status made from a spec that has changed since is refused.
func (c *controller) updateFooStatus(ctx context.Context, foo *v1alpha1.Foo, status v1alpha1.FooStatus) error {
	updated := *foo
	updated.Status = status
	_, err := c.foos.UpdateStatus(ctx, &updated)
	return err
}
