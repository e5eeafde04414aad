// Builders for the tests: Foos and Deployments, and the changes that tests make to them.

package main

import (
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

var (
	earlier = metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))
	now     = metav1.NewTime(time.Date(2026, 1, 1, 13, 0, 0, 0, time.UTC))
)

// aFoo returns a Foo that asks for a Deployment of that name with that many replicas.
func aFoo(name, deploymentName string, replicas int32) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas},
	}
}

// deploymentOf returns the Deployment that foo asks for, as the API server stores it: with a UID
// and with defaults.
func deploymentOf(foo *samplecontrollerv1alpha1.Foo, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := desiredDeployment(foo)
	deployment.UID = types.UID("uid of " + deployment.Name)
	deployment.Generation = 1
	deployment.Spec.RevisionHistoryLimit = new(int32(10))
	deployment.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	pod := &deployment.Spec.Template.Spec
	pod.RestartPolicy = corev1.RestartPolicyAlways
	pod.Containers[0].TerminationMessagePath = corev1.TerminationMessagePathDefault
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// available sets the status: the Deployment controller has seen the spec, and that many replicas
// are available.
func available(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.Status = appsv1.DeploymentStatus{
			ObservedGeneration: deployment.Generation,
			Replicas:           replicas,
			UpdatedReplicas:    replicas,
			AvailableReplicas:  replicas,
		}
	}
}

func named(name string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Name = name }
}

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}

func running(image string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Template.Spec.Containers[0].Image = image }
}

// annotated adds somebody else's annotation.
func annotated(deployment *appsv1.Deployment) {
	deployment.Annotations = map[string]string{"team": "blue"}
}

// withSidecars adds somebody else's containers, before and after ours.
func withSidecars(deployment *appsv1.Deployment) {
	pod := &deployment.Spec.Template.Spec
	pod.Containers = []corev1.Container{{Name: "before", Image: "proxy"}, pod.Containers[0], {Name: "after", Image: "log"}}
}

func withoutLabels(deployment *appsv1.Deployment) { deployment.Labels = nil }

// unowned removes the owner. Such a Deployment was created by hand, or its owner was deleted with
// --cascade=orphan.
func unowned(deployment *appsv1.Deployment) { deployment.OwnerReferences = nil }

// ofAnEarlierFoo makes the owner an earlier Foo of the same name, which is gone.
func ofAnEarlierFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].UID = "uid of a Foo that is gone"
}

// terminating marks the Deployment as being deleted. Its finalizer keeps it for now.
func terminating(deployment *appsv1.Deployment) {
	deployment.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	deployment.Finalizers = []string{metav1.FinalizerDeleteDependents}
}

// readYAML decodes a file into object. A field that object's type doesn't have is an error.
func readYAML(t *testing.T, file string, object any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(text, object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
