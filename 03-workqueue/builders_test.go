// Builders for the tests: Foos and Deployments, and the changes that tests make to them.

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
)

// aFoo returns a Foo that asks for a Deployment of that name with that many replicas.
func aFoo(name, deploymentName string, replicas int32) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas},
	}
}

// deploymentOf returns the Deployment that foo asks for.
func deploymentOf(foo *samplecontrollerv1alpha1.Foo, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := desiredDeployment(foo)
	for _, change := range changes {
		change(deployment)
	}
	return deployment
}

// available sets the status: the rollout is finished, and that many replicas are available.
func available(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) {
		deployment.Status = appsv1.DeploymentStatus{Replicas: replicas, UpdatedReplicas: replicas, AvailableReplicas: replicas}
	}
}

// unowned removes the owner, as if the Deployment had been created by hand.
func unowned(deployment *appsv1.Deployment) { deployment.OwnerReferences = nil }
