// App, and the Deployment that it asks for. You don't need to change anything here.

package removed

import (
	"maps"
	"slices"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// App asks for a Deployment with the same name.
type App struct {
	Namespace, Name string
	// Image is the image of the container, which is called app.
	Image string
	// Env are the container's environment variables. Others may add more to the Deployment.
	Env map[string]string
}

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "app-controller"

// desiredDeployment returns the Deployment that app asks for.
func desiredDeployment(app *App) *appsv1ac.DeploymentApplyConfiguration {
	labels := map[string]string{"app": app.Name}
	container := corev1ac.Container().WithName("app").WithImage(app.Image)
	for _, name := range slices.Sorted(maps.Keys(app.Env)) {
		container.WithEnv(corev1ac.EnvVar().WithName(name).WithValue(app.Env[name]))
	}
	return appsv1ac.Deployment(app.Name, app.Namespace).
		WithSpec(appsv1ac.DeploymentSpec().
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(labels).
				WithSpec(corev1ac.PodSpec().WithContainers(container))))
}
