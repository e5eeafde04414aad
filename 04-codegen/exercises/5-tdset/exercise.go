//go:build !solution

// Command 5-tdset is a controller for TDSets, with a generated client and server-side apply. A
// TDSet asks for a Deployment that is scaled by the time of day.
package main

import (
	"context"
	"errors"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	schedulev1ac "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "tdset-controller"

// newController returns a controller of the TDSets in namespace, where "" means all namespaces. It
// doesn't start the informers, because run does that.
func newController(config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because the server has one that treats all clients fairly
	c := &controller{clock: wallClock, queue: newQueue()}
	// YOUR WORK: create both clients, and for TDSets and for Deployments an informer and a lister
	// in that namespace. All of them are generated: for TDSets in pkg/generated, and for
	// Deployments in client-go.
	return c, errors.New("the controller has no clients, informers and listers yet")
}

// createDeployment assumes that there is no Deployment with that name. If somebody has just created
// one, it stays as it is, and createDeployment returns an error.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	// YOUR WORK: send an apply.
	return errors.New("createDeployment sends nothing yet")
}

// updateDeployment takes over the fields that desired sets, no matter who changed them, so observed
// must be a Deployment that we control. If that Deployment is gone, or another one has its name,
// updateDeployment changes and creates nothing, and returns an error.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	// YOUR WORK: send an apply here too, with other options.
	return errors.New("updateDeployment sends nothing yet")
}

// updateTDSetStatus writes that status to the TDSet, even if someone else has written there before.
// But it leaves conditions other than conditionReady to their owners. It assumes that tdset is up
// to date. If the TDSet has changed since, the status may be computed from an old spec, so it
// writes nothing and returns an error.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	// YOUR WORK: this apply has no fields, and goes to the wrong endpoint.
	desired := schedulev1ac.TDSet(tdset.Name, tdset.Namespace)
	_, err := c.tdsets.ScheduleV1().TDSets(tdset.Namespace).Apply(ctx, desired, metav1.ApplyOptions{FieldManager: fieldOwner})
	return err
}
