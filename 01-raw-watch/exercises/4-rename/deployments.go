// The writes that Sync may send, and the Deployment that a Foo asks for. There is nothing for you
// to do in this file.

package rename

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// Writer sends writes to the API server, which may refuse any of them.
type Writer interface {
	// Create creates a Deployment. The server refuses it if the name is taken, for instance.
	Create(ctx context.Context, deployment *appsv1.Deployment) error
	// Delete deletes the Deployment that has the name now. If options has preconditions that this
	// Deployment doesn't meet, the server refuses with a conflict.
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// desiredDeployment returns the Deployment that foo asks for.
func desiredDeployment(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	labels := map[string]string{"app": "nginx", "controller": foo.Name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Name:      foo.Spec.DeploymentName,
			Namespace: foo.Namespace,
			Labels:    labels,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(foo, samplecontrollerv1alpha1.GroupVersion.WithKind("Foo")),
			},
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
