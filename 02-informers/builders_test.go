// Builders for the tests: Foos and Deployments, and the changes that tests make to them.

package main

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// aFoo returns a Foo that asks for a Deployment of that name with that many replicas.
func aFoo(name, deploymentName string, replicas int32) *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		TypeMeta:   metav1.TypeMeta{APIVersion: samplecontrollerv1alpha1.GroupVersion.String(), Kind: "Foo"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid of " + name), Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentName, Replicas: &replicas},
	}
}

// aSettledFoo returns a Foo, and its Deployment web, between which nothing is left to do.
func aSettledFoo() (*samplecontrollerv1alpha1.Foo, *appsv1.Deployment) {
	foo := aFoo("example", "web", 3)
	deployment := deploymentOf(foo, available(3))
	foo.Status = desiredStatus(foo, deployment, nil, metav1.NewTime(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)))
	return foo, deployment
}

// deploymentOf returns the Deployment that foo asks for, as the API server stores it.
func deploymentOf(foo *samplecontrollerv1alpha1.Foo, changes ...func(*appsv1.Deployment)) *appsv1.Deployment {
	deployment := desiredDeployment(foo)
	deployment.UID = types.UID("uid of " + deployment.Name)
	deployment.Generation = 1
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

func scaledTo(replicas int32) func(*appsv1.Deployment) {
	return func(deployment *appsv1.Deployment) { deployment.Spec.Replicas = &replicas }
}
