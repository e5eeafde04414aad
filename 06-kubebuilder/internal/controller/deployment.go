// The Deployments of a Foo. The controller writes them with server-side apply: it sends only the
// fields that it owns, and the API server merges them into the object.

package controller

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = client.FieldOwner("foo-controller")

// syncDeployment creates or updates the Deployment that foo names. After a write it returns nil,
// and otherwise the Deployment, even if it belongs to someone else. If it should match foo but can't
// be made to, the error says why. If the Deployment doesn't exist, the returned one is empty.
func (r *FooReconciler) syncDeployment(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (*appsv1.Deployment, error) {
	key := client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}
	logger := log.FromContext(ctx).WithValues("deployment", key)
	observed := &appsv1.Deployment{}
	err := r.Get(ctx, key, observed)
	if apierrors.IsNotFound(err) {
		// The cache may be behind, and an apply would change a Deployment that exists after all.
		err = r.APIReader.Get(ctx, key, observed)
	}
	desired, options := desiredDeployment(foo), []client.ApplyOption{fieldOwner}
	switch {
	case apierrors.IsNotFound(err):
		// An apply has no create-only option, so somebody else may create this Deployment just
		// before it arrives. Without force, the apply can't change their values (409 Conflict), and
		// a Deployment can't have two controllers (422 Invalid). But if theirs has our values and
		// no controller, the Foo adopts it.
		logger.Info("Creating")
	case err != nil:
		return nil, fmt.Errorf("get Deployment %s: %w", key.Name, err)
	case !controls(foo, observed) || upToDate(observed, desired):
		// It belongs to someone else, it is being deleted, or it is as it should be. None of these
		// is an error or needs a retry, because the next change to it causes an event.
		return observed, nil
	default:
		// Without force, every apply after a manual kubectl scale would get 409 Conflict, and the
		// scale would never be reverted. The UID makes the apply fail if this Deployment has been
		// deleted or replaced since it was read. Otherwise, the forced apply would create a new
		// one, or change somebody else's.
		logger.Info("Updating")
		desired.WithUID(observed.UID)
		options = append(options, client.ForceOwnership)
	}
	if err := r.Apply(ctx, desired, options...); err != nil {
		return observed, fmt.Errorf("apply Deployment %s: %w", key.Name, err)
	}
	// Apply stores the API server's answer in desired. The same resourceVersion as before means that
	// nothing has changed, so no event will follow.
	if ptr.Deref(desired.ResourceVersion, "") == observed.ResourceVersion {
		return observed, fmt.Errorf("apply Deployment %s: %w", key.Name, errOverruled)
	}
	return nil, nil
}

// deleteFormer deletes the Deployments that foo controls and no longer names.
func (r *FooReconciler) deleteFormer(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	var deployments appsv1.DeploymentList
	if err := r.List(ctx, &deployments, client.InNamespace(foo.Namespace), client.MatchingFields{byOwner: string(foo.UID)}); err != nil {
		return fmt.Errorf("list the Deployments of the Foo: %w", err)
	}
	for _, former := range deployments.Items {
		if former.Name == foo.Spec.DeploymentName || !controls(foo, &former) {
			continue
		}
		log.FromContext(ctx).Info("Deleting", "deployment", client.ObjectKeyFromObject(&former))
		// The UID makes sure that this doesn't delete another Deployment that has taken the name.
		err := r.Delete(ctx, &former, client.Preconditions{UID: &former.UID})
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("delete Deployment %s: %w", former.Name, err)
		}
	}
	return nil
}
