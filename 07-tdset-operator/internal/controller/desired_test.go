// The comparison of the desired objects with the observed ones. Pure functions need no server and no
// mocks: values in, values out. release_test.go has the desired objects themselves.

package controller

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

func TestDeploymentUpToDate(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*appsv1.Deployment)
		want   bool
	}{
		// Somebody changed a field that we set.
		"the replicas were changed":                  {scaledTo(4), false},
		"the replicas were removed, which means 1":   {func(d *appsv1.Deployment) { d.Spec.Replicas = nil }, false},
		"the image was changed":                      {running("nginx:0.9"), false},
		"the image was changed, beside sidecars":     {both(running("nginx:0.9"), withSidecars), false},
		"a label was changed":                        {func(d *appsv1.Deployment) { d.Labels["app"] = "other" }, false},
		"a label was removed":                        {func(d *appsv1.Deployment) { delete(d.Labels, TDSetLabel) }, false},
		"a label of the template was changed":        {func(d *appsv1.Deployment) { d.Spec.Template.Labels[TDSetLabel] = "other" }, false},
		"our container was renamed":                  {func(d *appsv1.Deployment) { ours(d).Name = "web" }, false},
		"our container was removed":                  {func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers = nil }, false},
		"the container's port was changed":           {func(d *appsv1.Deployment) { ours(d).Ports[0].ContainerPort = 81 }, false},
		"the container's port was removed":           {func(d *appsv1.Deployment) { ours(d).Ports = nil }, false},
		"our image and port run in other containers": {split, false},

		// Somebody changed a field that we don't set.
		"only the API server's defaults were added": {func(*appsv1.Deployment) {}, true},
		"an annotation was added":                   {annotated[*appsv1.Deployment], true},
		"a label was added":                         {func(d *appsv1.Deployment) { d.Labels["team"] = "blue" }, true},
		"a label was added to the template":         {func(d *appsv1.Deployment) { d.Spec.Template.Labels["team"] = "blue" }, true},
		"sidecars were added before and after ours": {withSidecars, true},
		"a variable was added to our container":     {withVariable, true},
		"our container was given a second port":     {withMetricsPort, true},
		"the rollout was paused":                    {func(d *appsv1.Deployment) { d.Spec.Paused = true }, true},
	} {
		t.Run(name, func(t *testing.T) {
			tdset := aTDSet()
			if got := deploymentUpToDate(deploymentOf(tdset, test.change), desiredDeployment(tdset, 5)); got != test.want {
				t.Errorf("deploymentUpToDate = %v, want %v", got, test.want)
			}
		})
	}
}

func TestServiceUpToDate(t *testing.T) {
	for name, test := range map[string]struct {
		change    func(*corev1.Service)
		want      bool // ignoring the ports
		wantPorts bool
	}{
		"a label was removed":                 {func(s *corev1.Service) { delete(s.Labels, "app") }, false, true},
		"a label was changed":                 {func(s *corev1.Service) { s.Labels[TDSetLabel] = "other" }, false, true},
		"the selector was removed":            {func(s *corev1.Service) { s.Spec.Selector = nil }, false, true},
		"the selector matches other Pods":     {func(s *corev1.Service) { s.Spec.Selector["app"] = "other" }, false, true},
		"the selector matches fewer Pods":     {narrowed, false, true},
		"the port was changed":                {listeningOn(81), true, false},
		"the port was renamed":                {func(s *corev1.Service) { s.Spec.Ports[0].Name = "http" }, true, false},
		"the port has another protocol":       {func(s *corev1.Service) { s.Spec.Ports[0].Protocol = corev1.ProtocolUDP }, true, false},
		"the target port was changed":         {leadingTo(intstr.FromInt32(81)), true, false},
		"the target port is a name":           {leadingTo(intstr.FromString("8080")), true, false},
		"there is a second port":              {withPort(81), true, false},
		"there is no port":                    {func(s *corev1.Service) { s.Spec.Ports = nil }, true, false},
		"the API server has added an address": {func(*corev1.Service) {}, true, true},
		"an annotation was added":             {annotated[*corev1.Service], true, true},
		"a label was added":                   {func(s *corev1.Service) { s.Labels["team"] = "blue" }, true, true},
		"the type is NodePort":                {onNodes, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			tdset := aTDSet(withService(80))
			service := serviceOf(tdset, test.change)
			if got := serviceUpToDate(service, desiredService(tdset)); got != test.want {
				t.Errorf("serviceUpToDate = %v, want %v", got, test.want)
			}
			if got := portsUpToDate(service, desiredService(tdset)); got != test.wantPorts {
				t.Errorf("portsUpToDate = %v, want %v", got, test.wantPorts)
			}
		})
	}
}

func TestControls(t *testing.T) {
	for name, test := range map[string]struct {
		change func(metav1.Object)
		want   bool
	}{
		"the TDSet is its controller":                           {func(metav1.Object) {}, true},
		"it has no controller":                                  {unowned[metav1.Object], false},
		"an earlier TDSet with the same name is its controller": {ofAnEarlierTDSet[metav1.Object], false},
		"the TDSet is an owner, but not its controller":         {ownedOnly[metav1.Object], false},
		"the TDSet is its controller, but it is being deleted":  {terminating[metav1.Object], false},
	} {
		t.Run(name, func(t *testing.T) {
			tdset := aTDSet(withService(80))
			for _, object := range []metav1.Object{deploymentOf(tdset), serviceOf(tdset)} {
				test.change(object)
				if got := controls(tdset, object); got != test.want {
					t.Errorf("controls(%T) = %v, want %v", object, got, test.want)
				}
			}
		})
	}
}

// ours returns our container, which must be the only one.
func ours(deployment *appsv1.Deployment) *corev1.Container {
	return &deployment.Spec.Template.Spec.Containers[0]
}

// split has a container with our name and port, and another with our image.
func split(deployment *appsv1.Deployment) {
	withSidecars(deployment)
	containers := deployment.Spec.Template.Spec.Containers
	containers[0].Image, containers[1].Image = containers[1].Image, containers[0].Image
}

func withMetricsPort(deployment *appsv1.Deployment) {
	ours(deployment).Ports = append([]corev1.ContainerPort{{ContainerPort: 9090}}, ours(deployment).Ports...)
}

func withVariable(deployment *appsv1.Deployment) {
	ours(deployment).Env = []corev1.EnvVar{{Name: "COLOUR", Value: "blue"}}
}

func leadingTo(target intstr.IntOrString) func(*corev1.Service) {
	return func(service *corev1.Service) { service.Spec.Ports[0].TargetPort = target }
}

// narrowed adds a key to the selector, so that it matches only some of our Pods, or none.
func narrowed(service *corev1.Service) { service.Spec.Selector["version"] = "v2" }

func withPort(port int32) func(*corev1.Service) {
	return func(service *corev1.Service) {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "more", Port: port})
	}
}

// onNodes sets the type to NodePort.
func onNodes(service *corev1.Service) {
	service.Spec.Type, service.Spec.Ports[0].NodePort = corev1.ServiceTypeNodePort, 30000
}

func both(first, second func(*appsv1.Deployment)) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { first(deployment); second(deployment) }
}
