// What Sync works with: the writes that it may do, and the Deployment that a Foo wants. There is nothing to do in here.

package rename

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// Writer sends writes to the API server, which may refuse each of them.
type Writer interface {
	// Create makes a Deployment. It is refused if there is one of that name, for instance.
	Create(ctx context.Context, deployment *appsv1.Deployment) error
	// Delete deletes the Deployment that has the name now. With preconditions in its options it is refused, as a conflict,
	// unless the Deployment meets them.
	Delete(ctx context.Context, name string, options metav1.DeleteOptions) error
}

// desiredDeployment returns the Deployment that foo wants.
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
