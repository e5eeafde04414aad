//go:build solution

// Package lostupdate is about changing something that others change as well.
package lostupdate

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"example.com/operators/01-raw-watch/wire"
)

// Update brings the Deployment of that name to what desired asks for. Two things in it are ours: the replicas, and the
// image of the container that is called as the one in desired. Everything else belongs to others and stays as it is.
// If our container is missing, it is added as desired has it.
//
// If the Deployment is up to date, nothing is written; otherwise it is written once. If someone else writes between our
// read and our write, their change is kept and Update returns the server's conflict, so that the caller retries. Whatever
// else the server refuses is the error, too.
func Update(ctx context.Context, client *wire.Client, desired *appsv1.Deployment) error {
	// 1. What is there now, with all that others have set in it.
	observed := &appsv1.Deployment{}
	if err := client.Do(ctx, http.MethodGet, pathOf(desired), nil, nil, observed); err != nil {
		return fmt.Errorf("get Deployment %s: %w", desired.Name, err)
	}

	// 2. What should be there: the same, but for what is ours.
	merged := merge(observed, desired)
	if equality.Semantic.DeepEqual(observed, merged) {
		return nil
	}

	// 3. The resourceVersion that was read goes back with it. If somebody has written since, it is no longer the server's.
	if err := client.Do(ctx, http.MethodPut, pathOf(desired), nil, merged, nil); err != nil {
		return fmt.Errorf("update Deployment %s: %w", desired.Name, err)
	}
	return nil
}

// merge returns observed with what is ours set as in desired.
func merge(observed, desired *appsv1.Deployment) *appsv1.Deployment {
	merged := observed.DeepCopy()
	merged.Spec.Replicas = desired.Spec.Replicas
	ours := desired.Spec.Template.Spec.Containers[0]
	containers := &merged.Spec.Template.Spec.Containers
	i := slices.IndexFunc(*containers, func(c corev1.Container) bool { return c.Name == ours.Name })
	if i < 0 {
		*containers = append(*containers, ours)
	} else {
		(*containers)[i].Image = ours.Image
	}
	return merged
}

// pathOf is where the API server has a Deployment.
func pathOf(deployment *appsv1.Deployment) string {
	return "/apis/apps/v1/namespaces/" + deployment.Namespace + "/deployments/" + deployment.Name
}
