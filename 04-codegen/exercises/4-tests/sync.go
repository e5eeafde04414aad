// Package tests is about tests that find bugs in a controller that applies. It has a function that
// keeps its promises, and five versions of it that each break one of them.
package tests

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "foo-controller"

// A Sync creates or updates the Deployment that foo names.
//
// It promises:
//   - It creates a missing Deployment, with foo as its controller.
//   - It sets the replicas that foo asks for, even if somebody else has changed them.
//   - It doesn't change a Deployment that foo doesn't control, and returns no error then.
//   - It doesn't change fields that belong to others, such as their labels.
//   - If there is nothing to change, it writes nothing.
type Sync func(ctx context.Context, deployments typedappsv1.DeploymentInterface, foo *samplecontrollerv1alpha1.Foo) error

// right keeps all promises.
var right = with("")

// wrong are the bugs. With each of them, Sync breaks one of the promises.
var wrong = []string{
	"creates a Deployment without an owner",
	"gives up when somebody else has scaled",
	"takes over other people's Deployments",
	"removes other people's labels",
	"writes even if nothing has changed",
}

// with returns a Sync that has this bug.
func with(bug string) Sync {
	return func(ctx context.Context, deployments typedappsv1.DeploymentInterface, foo *samplecontrollerv1alpha1.Foo) error {
		desired := appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
			WithSpec(appsv1ac.DeploymentSpec().WithReplicas(*foo.Spec.Replicas))
		if bug != "creates a Deployment without an owner" {
			desired.WithOwnerReferences(metav1ac.OwnerReference().
				WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).WithKind("Foo").
				WithName(foo.Name).WithUID(foo.UID).WithController(true))
		}

		now, err := deployments.Get(ctx, foo.Spec.DeploymentName, metav1.GetOptions{})
		switch {
		case apierrors.IsNotFound(err):
			_, err := deployments.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: fieldOwner})
			return err
		case err != nil:
			return err
		case !metav1.IsControlledBy(now, foo) && bug != "takes over other people's Deployments":
			return nil
		case *now.Spec.Replicas == *foo.Spec.Replicas && bug != "writes even if nothing has changed":
			return nil
		case bug == "removes other people's labels":
			replaced := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: now.Name, OwnerReferences: now.OwnerReferences}}
			replaced.Spec.Replicas = foo.Spec.Replicas
			_, err := deployments.Update(ctx, replaced, metav1.UpdateOptions{FieldManager: fieldOwner})
			return err
		}
		force := bug != "gives up when somebody else has scaled"
		_, err = deployments.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: fieldOwner, Force: force})
		return err
	}
}
