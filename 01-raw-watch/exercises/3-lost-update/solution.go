//go:build solution

// Package lostupdate is about updating an object that others update as well.
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

// Update gives the existing Deployment of desired's name the replicas and the image in desired.
// Only two of its fields are ours: the replicas, and the image of the container that has the same
// name as the one in desired. All other fields belong to others and stay as they are. If our
// container is missing, Update adds it as it is in desired.
//
// If the Deployment is up to date, Update writes nothing. Otherwise, it writes once. If someone
// else writes between our read and our write, their change stays, and Update returns the server's
// conflict, so that the caller can retry. It returns any other error of the server, too.
func Update(ctx context.Context, client *wire.Client, desired *appsv1.Deployment) error {
	// 1. Read the Deployment as it is now, with all the fields that others have set.
	observed := &appsv1.Deployment{}
	if err := client.Do(ctx, http.MethodGet, pathOf(desired), nil, nil, observed); err != nil {
		return fmt.Errorf("get Deployment %s: %w", desired.Name, err)
	}

	// 2. Set our fields in a copy of it. If that changes nothing, there is nothing to write.
	merged := merge(observed, desired)
	if equality.Semantic.DeepEqual(observed, merged) {
		return nil
	}

	// 3. Write the copy. It still has the resourceVersion that was read, so the server refuses it
	// if somebody has written since.
	if err := client.Do(ctx, http.MethodPut, pathOf(desired), nil, merged, nil); err != nil {
		return fmt.Errorf("update Deployment %s: %w", desired.Name, err)
	}
	return nil
}

// merge returns a copy of observed, with our fields set as in desired.
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

// pathOf returns a Deployment's path on the API server.
func pathOf(deployment *appsv1.Deployment) string {
	return "/apis/apps/v1/namespaces/" + deployment.Namespace + "/deployments/" + deployment.Name
}
