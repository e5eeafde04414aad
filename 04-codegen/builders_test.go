// Builders for the tests: Foos and Deployments, and the changes that tests make to them.

package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
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
	deployment := applied(desiredDeployment(foo))
	deployment.UID = types.UID("uid of " + deployment.Name)
	deployment.Spec.RevisionHistoryLimit = new(int32(10))
	deployment.Spec.Strategy.Type = appsv1.RollingUpdateDeploymentStrategyType
	deployment.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyAlways
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// applied returns the Deployment that an apply creates.
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

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}

func running(image string) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Template.Spec.Containers[0].Image = image }
}

// withSidecars adds somebody else's containers, before and after ours.
func withSidecars(deployment *appsv1.Deployment) {
	pod := &deployment.Spec.Template.Spec
	pod.Containers = []corev1.Container{{Name: "before", Image: "proxy"}, pod.Containers[0], {Name: "after", Image: "log"}}
}

// unowned removes the owner. Such a Deployment was created by hand, or its owner was deleted with
// --cascade=orphan.
func unowned(deployment *appsv1.Deployment) { deployment.OwnerReferences = nil }

// ofAnEarlierFoo makes the owner an earlier Foo of the same name, which is gone.
func ofAnEarlierFoo(deployment *appsv1.Deployment) {
	deployment.OwnerReferences[0].UID = "uid of a Foo that is gone"
}

// terminating marks an object as being deleted. Its finalizer keeps it for now.
func terminating[T metav1.Object](object T) {
	object.SetDeletionTimestamp(&metav1.Time{Time: time.Unix(0, 0)})
	object.SetFinalizers([]string{metav1.FinalizerDeleteDependents})
}

// ownersOf returns the field managers that own a field of object. Write its path as managedFields
// does: "f:spec", "f:replicas".
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
	must(t, err)
	must(t, yaml.UnmarshalStrict(text, object))
}
