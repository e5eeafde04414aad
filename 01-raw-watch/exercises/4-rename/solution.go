//go:build solution

// Package rename is about a Foo that wants its Deployment under another name.
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
	// 1. The one that it names. If the name is taken, or its own is on its way out, the rest has to wait.
	wanted := foo.Spec.DeploymentName
	i := slices.IndexFunc(deployments, func(d *appsv1.Deployment) bool { return d.Name == wanted })
	switch {
	case i < 0:
		if err := writer.Create(ctx, desiredDeployment(foo)); err != nil {
			return fmt.Errorf("create Deployment %s: %w", wanted, err)
		}
	case !controls(foo, deployments[i]):
		return nil
	}

	// 2. Those that it named before: each by its UID, since by now another may have the name.
	for _, former := range deployments {
		if former.Name == wanted || !controls(foo, former) {
			continue
		}
		options := metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(former.UID))}
		if err := writer.Delete(ctx, former.Name, options); err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}

// controls reports whether a Deployment is foo's to change: foo is its controller by UID, and it isn't being deleted.
func controls(foo *samplecontrollerv1alpha1.Foo, deployment *appsv1.Deployment) bool {
	return metav1.IsControlledBy(deployment, foo) && deployment.DeletionTimestamp.IsZero()
}
