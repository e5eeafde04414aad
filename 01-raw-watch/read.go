// The reads. Each one asks the API server. That is simple, and the answer is always fresh, but
// every read costs a request. Chapter 02 has the same functions, but they read from a cache.

package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

type items[T any] struct{ Items []*T }

func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*samplecontrollerv1alpha1.Foo, error) {
	foo := &samplecontrollerv1alpha1.Foo{}
	return foo, c.client.Do(ctx, http.MethodGet, foosPath(key.Namespace)+"/"+key.Name, nil, nil, foo)
}

// listFoos returns the Foos that ask for a Deployment of that name.
func (c *controller) listFoos(ctx context.Context, namespace, deploymentName string) ([]*samplecontrollerv1alpha1.Foo, error) {
	var list items[samplecontrollerv1alpha1.Foo]
	// The CRD declares the field as selectable, so the API server does the filtering.
	err := c.client.Do(ctx, http.MethodGet, foosPath(namespace), url.Values{"fieldSelector": {"spec.deploymentName=" + deploymentName}}, nil, &list)
	return list.Items, err
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.client.Do(ctx, http.MethodGet, deploymentsPath(namespace)+"/"+name, nil, nil, deployment)
}

// listDeployments returns the Deployments that foo controls. It checks their owner references and
// not their labels, because anyone can add or remove a label.
func (c *controller) listDeployments(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	var list items[appsv1.Deployment]
	err := c.client.Do(ctx, http.MethodGet, deploymentsPath(foo.Namespace), nil, nil, &list)
	list.Items = slices.DeleteFunc(list.Items, func(d *appsv1.Deployment) bool { return !metav1.IsControlledBy(d, foo) })
	return list.Items, err
}
