//go:build solution

// Package mutatedcache is about objects that belong to a cache. If you change one, you change it
// for everyone who reads it.
package mutatedcache

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
)

// teamLabel is the label for the name of the team that owns a Deployment.
const teamLabel = "team"

// Labeler puts a team's label on Deployments and on their Pod templates, and thereby on Pods.
type Labeler struct {
	Team string
	// Deployments reads the informer's cache.
	Deployments appslisters.DeploymentLister
	// Update sends a Deployment to the API server, which may refuse it.
	Update func(context.Context, *appsv1.Deployment) error
}

// Sync sets the team's label on the Deployment of that name, and on its template. It never changes
// the object in the cache. If both labels are right already, as in nearly every call, it sends
// nothing and copies nothing.
func (l *Labeler) Sync(ctx context.Context, namespace, name string) error {
	cached, err := l.Deployments.Deployments(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("get Deployment %s: %w", name, err)
	}

	// 1. Look at the labels. That needs no copy.
	if cached.Labels[teamLabel] == l.Team && cached.Spec.Template.Labels[teamLabel] == l.Team {
		return nil
	}

	// 2. Make a deep copy before the first change.
	changed := cached.DeepCopy()
	metav1.SetMetaDataLabel(&changed.ObjectMeta, teamLabel, l.Team)
	metav1.SetMetaDataLabel(&changed.Spec.Template.ObjectMeta, teamLabel, l.Team)
	if err := l.Update(ctx, changed); err != nil {
		return fmt.Errorf("update Deployment %s: %w", name, err)
	}
	return nil
}
