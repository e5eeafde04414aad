// The controller and its requests. They go over plain HTTP, as in the chapter. Every read asks the
// API server. Every write states its assumption, so that the server refuses it with 409 if that is
// no longer true.

package main

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	"example.com/operators/01-raw-watch/wire"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	client *wire.Client
	clock  clock.WithTickerAndDelayedExecution

	tdsetReflector      *wire.Reflector
	deploymentReflector *wire.Reflector
}

// newController returns a controller for the TDSets in namespace; "" means all namespaces.
func newController(config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	client, err := wire.NewClient(config)
	if err != nil {
		return nil, err
	}
	return &controller{
		client:              client,
		clock:               wallClock,
		tdsetReflector:      wire.NewReflector(client, tdsetsPath(namespace)),
		deploymentReflector: wire.NewReflector(client, deploymentsPath(namespace)),
	}, nil
}

// tdsetsPath returns the path of the TDSets in namespace; "" means all namespaces.
func tdsetsPath(namespace string) string {
	return collectionPath("/apis/schedule.rs/v1", namespace, "tdsets")
}

// deploymentsPath returns the same for Deployments.
func deploymentsPath(namespace string) string {
	return collectionPath("/apis/apps/v1", namespace, "deployments")
}

func collectionPath(groupVersion, namespace, resource string) string {
	if namespace == "" {
		return groupVersion + "/" + resource
	}
	return groupVersion + "/namespaces/" + namespace + "/" + resource
}

func (c *controller) getTDSet(ctx context.Context, key types.NamespacedName) (*TDSet, error) {
	tdset := &TDSet{}
	return tdset, c.client.Do(ctx, http.MethodGet, tdsetsPath(key.Namespace)+"/"+key.Name, nil, nil, tdset)
}

func (c *controller) getDeployment(ctx context.Context, namespace, name string) (*appsv1.Deployment, error) {
	deployment := &appsv1.Deployment{}
	return deployment, c.client.Do(ctx, http.MethodGet, deploymentsPath(namespace)+"/"+name, nil, nil, deployment)
}

// createDeployment assumes that there is no Deployment with that name.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) error {
	return c.client.Do(ctx, http.MethodPost, deploymentsPath(desired.Namespace), nil, desired, nil)
}

// updateDeployment assumes the resourceVersion in merged, which is that of the Deployment that was
// read.
func (c *controller) updateDeployment(ctx context.Context, merged *appsv1.Deployment) error {
	return c.client.Do(ctx, http.MethodPut, deploymentsPath(merged.Namespace)+"/"+merged.Name, nil, merged, nil)
}

// updateTDSetStatus assumes tdset's resourceVersion, so the API server refuses a status that was
// computed from an old spec.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	updated := *tdset
	updated.Status = status
	return c.client.Do(ctx, http.MethodPut, tdsetsPath(tdset.Namespace)+"/"+tdset.Name+"/status", nil, &updated, nil)
}
