// Builders for the tests: Foos and Deployments, and the changes that tests make to them.

package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// aFoo returns a Foo that asks for a Deployment of that name with that many replicas.
func aFoo(name, deploymentName string, replicas int32, changes ...func(*samplecontrollerv1alpha1.Foo)) *samplecontrollerv1alpha1.Foo {
	foo := &samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas},
	}
	for _, change := range changes {
		change(foo)
	}
	return foo
}

// deploymentOf returns the Deployment that foo asks for, as the API server stores it: with a UID
// and with defaults.
func deploymentOf(foo *samplecontrollerv1alpha1.Foo, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := applied(desiredDeployment(foo))
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

// applied returns the Deployment that an apply makes where there is none.
func applied(desired *appsv1ac.DeploymentApplyConfiguration) *appsv1.Deployment {
	var deployment appsv1.Deployment
	text, err := json.Marshal(desired)
	if err == nil {
		err = json.Unmarshal(text, &deployment)
	}
	if err != nil {
		panic(err)
	}
	return &deployment
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

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}

// unowned removes the owner. Such a Deployment was created by hand, or its owner was deleted with
// --cascade=orphan.
func unowned(deployment *appsv1.Deployment) { deployment.OwnerReferences = nil }

// ownersOf returns the field managers who own a field of object. Its path is written as
// managedFields has it: "f:spec", "f:replicas".
func ownersOf(object metav1.Object, path ...string) (owners []string) {
	for _, entry := range object.GetManagedFields() {
		var owned map[string]any
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
			panic(err)
		}
		if _, found, _ := unstructured.NestedFieldNoCopy(owned, path...); found {
			owners = append(owners, entry.Manager)
		}
	}
	slices.Sort(owners)
	return owners
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
