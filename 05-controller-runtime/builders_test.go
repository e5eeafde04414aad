// Builders for the tests: Foos and Deployments.

package main

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// somebody is the field manager of all writes that the controller doesn't make.
const somebody = client.FieldOwner("somebody")

// aFoo returns a Foo that asks for a Deployment of that name with that many replicas.
func aFoo(name, deploymentName string, replicas int32) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas},
	}
}

// deploymentOf returns the Deployment that foo asks for, as an apply creates it.
func deploymentOf(foo *samplecontrollerv1alpha1.Foo, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	var deployment appsv1.Deployment
	text, err := json.Marshal(desiredDeployment(foo))
	if err == nil {
		err = json.Unmarshal(text, &deployment)
	}
	if err != nil {
		panic(err)
	}
	for _, change := range changes {
		change(&deployment)
	}
	return &deployment
}

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}

// unowned removes the owner. Such a Deployment was created by hand, or its owner was deleted with
// --cascade=orphan.
func unowned(deployment *appsv1.Deployment) { deployment.OwnerReferences = nil }

// ownedOnly makes the owner one that isn't the controller.
func ownedOnly(deployment *appsv1.Deployment) { deployment.OwnerReferences[0].Controller = nil }
