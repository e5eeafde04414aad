//go:build !solution

// Package rename is about a Foo whose deploymentName changes.
package rename

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
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
	// YOUR WORK: whose are the Deployments, which write comes first, and what may have changed
	// since they were listed?
	found := false
	for _, deployment := range deployments {
		if deployment.Name == foo.Spec.DeploymentName {
			found = true
			continue
		}
		if owner := metav1.GetControllerOf(deployment); owner != nil && owner.Kind == "Foo" {
			if err := writer.Delete(ctx, deployment.Name, metav1.DeleteOptions{}); err != nil {
				return err
			}
		}
	}
	if found {
		return nil
	}
	return writer.Create(ctx, desiredDeployment(foo))
}
