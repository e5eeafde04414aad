// The controller and its reads. All reads but one return objects from the informers' caches, so
// don't change these objects. In this exercise, you create the controller and send its writes.

package main

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"

	"example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/clientset/versioned"
	schedulelisters "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/listers/schedule/v1"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	tdsets versioned.Interface  // the generated clientset, for our own type
	client kubernetes.Interface // client-go's clientset, for Deployments
	clock  clock.WithTickerAndDelayedExecution

	tdsetInformer      cache.SharedIndexInformer
	tdsetsLister       schedulelisters.TDSetLister
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	queue workqueue.TypedRateLimitingInterface[types.NamespacedName]
}

func (c *controller) getTDSet(_ context.Context, key types.NamespacedName) (*TDSet, error) {
	return c.tdsetsLister.TDSets(key.Namespace).Get(key.Name)
}

func (c *controller) getDeployment(_ context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// getDeploymentUncached asks the API server. The cache may lag behind, and unlike a create, an
// apply can change an existing Deployment.
func (c *controller) getDeploymentUncached(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
}
