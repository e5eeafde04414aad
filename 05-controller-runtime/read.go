// The reads. All but one of them read from the manager's cache. Unlike a lister, the manager's client
// returns copies, so you may change them.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*samplecontrollerv1alpha1.Foo, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	return foo, c.Get(ctx, key, foo)
}

// listFoos returns the Foos that ask for a Deployment of that name.
func (c *controller) listFoos(ctx context.Context, namespace, deploymentName string) ([]samplecontrollerv1alpha1.Foo, error) {
	list := &samplecontrollerv1alpha1.FooList{}
	err := c.List(ctx, list, client.InNamespace(namespace), client.MatchingFields{byDeploymentName: deploymentName})
	return list.Items, err
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, deployment)
}

// getDeploymentUncached asks the API server. The cache may lag behind, and unlike a create, an
// apply can change an existing Deployment.
func (c *controller) getDeploymentUncached(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.APIReader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: name}, deployment)
}

// listDeployments returns the Deployments that foo controls.
func (c *controller) listDeployments(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	list := &appsv1.DeploymentList{}
	err := c.List(ctx, list, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)})
	var deployments []*appsv1.Deployment
	for i := range list.Items {
		deployments = append(deployments, &list.Items[i])
	}
	return deployments, err
}
