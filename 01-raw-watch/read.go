// The reads. Each asks the API server, each time: that is simple, always fresh, and dear. Chapter 02 has the same reads, and
// asks a cache.

package main

import (
	"context"
	"net/http"
	"net/url"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// foosPath is the path of the Foos in namespace; "" means in all namespaces. One Foo's path is this and its name.
func foosPath(namespace string) string {
	return collectionPath("/apis/samplecontroller.k8s.io/v1alpha1", namespace, "foos")
}

// deploymentsPath is the same for Deployments.
func deploymentsPath(namespace string) string {
	return collectionPath("/apis/apps/v1", namespace, "deployments")
}

func collectionPath(groupVersion, namespace, resource string) string {
	if namespace == "" {
		return groupVersion + "/" + resource
	}
	return groupVersion + "/namespaces/" + namespace + "/" + resource
}

func (c *controller) getFoo(ctx context.Context, key types.NamespacedName) (*v1alpha1.Foo, error) {
	foo := &v1alpha1.Foo{}
	return foo, c.client.Do(ctx, http.MethodGet, foosPath(key.Namespace)+"/"+key.Name, nil, nil, foo)
}

// listFoos returns the Foos that ask for a Deployment of that name. The CRD makes the field selectable, so the server
// filters.
func (c *controller) listFoos(ctx context.Context, namespace, deploymentName string) ([]*v1alpha1.Foo, error) {
	query := url.Values{"fieldSelector": {"spec.deploymentName=" + deploymentName}}
	var list struct{ Items []*v1alpha1.Foo }
	err := c.client.Do(ctx, http.MethodGet, foosPath(namespace), query, nil, &list)
	return list.Items, err
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.client.Do(ctx, http.MethodGet, deploymentsPath(namespace)+"/"+name, nil, nil, deployment)
}

// listDeployments returns the Deployments in foo's namespace. All of them: anyone can set foo's label, and take it away, so the
// caller asks the owner reference whose they are.
func (c *controller) listDeployments(ctx context.Context, foo *v1alpha1.Foo) ([]*appsv1.Deployment, error) {
	var list struct{ Items []*appsv1.Deployment }
	err := c.client.Do(ctx, http.MethodGet, deploymentsPath(foo.Namespace), nil, nil, &list)
	return list.Items, err
}
