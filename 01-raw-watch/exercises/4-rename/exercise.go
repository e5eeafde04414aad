//go:build !solution

// Package rename is about a Foo that wants its Deployment under another name.
package rename

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	samplecontrollerv1alpha1 "example.com/operators/01-raw-watch/pkg/apis/samplecontroller/v1alpha1"
)

// Sync brings the Deployments of a Foo to the one that it names. It is called after each event, with all Deployments of
// the namespace as they are by then, those of others included.
//
// A Deployment is the Foo's if the Foo is its controller by UID. It writes to no other. If another has the name that
// the Foo wants, it leaves all as it is: there is no error, and the event that frees the name brings it back.
//
// A former Deployment of the Foo is deleted only once the one that it names is there, and isn't being deleted: the Foo
// is never without one. What is being deleted already is not deleted again.
//
// What it deletes is what it has seen: if another has taken the name since, the server refuses, as a conflict.
//
// What is refused is the error. Only deleting what is gone already is none.
func Sync(ctx context.Context, foo *samplecontrollerv1alpha1.Foo, deployments []*appsv1.Deployment, writer Writer) error {
	// YOUR WORK: whose are the Deployments, which write comes first, and what may have changed since?
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
