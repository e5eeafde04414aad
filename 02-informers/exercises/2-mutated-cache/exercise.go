//go:build !solution

// Package mutatedcache is about objects that belong to a cache: if you change one, you change it for all its
// readers.
package mutatedcache

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
)

// teamLabel says whom to call.
const teamLabel = "team"

// Labeller gives Deployments, and by their templates the Pods that they make, the label of a team.
type Labeller struct {
	Team string
	// Deployments reads the informer's cache.
	Deployments appslisters.DeploymentLister
	// Update sends a Deployment to the API server, which may refuse it.
	Update func(context.Context, *appsv1.Deployment) error
}

// Sync gives the Deployment of that name the team's label, on itself and on its template. It leaves what is in the cache as it
// is. If both labels are right already, it sends nothing and copies nothing: so it is with nearly every call.
func (l *Labeller) Sync(ctx context.Context, namespace, name string) error {
	cached, err := l.Deployments.Deployments(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", name, err)
	}

	// YOUR WORK: one of these copies is too shallow, and the other one is made on every call.
	changed := *cached
	metav1.SetMetaDataLabel(&changed.ObjectMeta, teamLabel, l.Team)
	changed.Spec.Template = *cached.Spec.Template.DeepCopy()
	metav1.SetMetaDataLabel(&changed.Spec.Template.ObjectMeta, teamLabel, l.Team)
	if equality.Semantic.DeepEqual(cached, &changed) {
		return nil
	}

	if err := l.Update(ctx, &changed); err != nil {
		return fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil
}
