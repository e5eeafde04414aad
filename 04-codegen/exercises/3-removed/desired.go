// What an App is, and what it wants of its Deployment. Given: there is nothing to do here.

package removed

import (
	"maps"
	"slices"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
)

// App asks for a Deployment of its name.
type App struct {
	Namespace, Name string
	// Image is what the container runs. The container is called app.
	Image string
	// Env are variables that the container finds in its environment. Others may give it more of them.
	Env map[string]string
}

// fieldManager is the name under which the controller owns fields.
const fieldManager = "app-controller"

// desiredDeployment returns what app wants of its Deployment.
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
