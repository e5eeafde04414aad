//go:build solution

// Package rename is about a Foo whose deploymentName changes.
package rename

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// Sync makes sure that a Foo has the Deployment that it names, and no other. It is called after
// each event, with all Deployments that are in the namespace at that time, including other
// people's.
//
// A Deployment is the Foo's if its owner reference names the Foo as the controller, by UID. Sync
// never writes to any other. If somebody else's Deployment has the name that the Foo asks for, Sync
// writes nothing and returns no error, because the event that frees the name leads to another call.
//
// Sync only deletes a former Deployment of the Foo once the Foo has the one that it names, and that
// one isn't being deleted. So the Foo is never without a Deployment. If a former one is being
// deleted already, Sync doesn't delete it again.
//
// Sync only deletes a Deployment that it has seen. If another one has taken the name since, the
// server refuses with a conflict.
//
// If the server refuses a write, Sync returns that error, unless the Deployment to be deleted is
// gone already.
func Sync(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, deployments []*appsv1.Deployment, writer Writer) error {
	// 1. Create the Deployment that it names, if there is none. If that name is somebody else's, or
	// its Deployment is being deleted, the rest has to wait.
	name := foo.Spec.DeploymentName
	i := slices.IndexFunc(deployments, func(d *appsv1.Deployment) bool { return d.Name == name })
	switch {
	case i < 0:
		if err := writer.Create(ctx, desiredDeployment(foo)); err != nil {
			return fmt.Errorf("create Deployment %s: %w", name, err)
		}
	case !controls(foo, deployments[i]):
		return nil
	}

	// 2. Delete the Deployments that it named before, each by its UID, because another one may have
	// taken its name.
	for _, former := range deployments {
		if former.Name == name || !controls(foo, former) {
			continue
		}
		options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(former.UID))}
		if err := writer.Delete(ctx, former.Name, options); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}

// controls reports whether foo may change deployment: its owner reference names foo as the
// controller, by UID, and it isn't being deleted.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}
