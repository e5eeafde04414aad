//go:build !solution

// Package lostupdate is about updating an object that others update as well.
package lostupdate

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"

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
	// YOUR WORK: read, compare, change only what is ours, and write.
	return client.Do(ctx, http.MethodPut, pathOf(desired), nil, desired, nil)
}

// pathOf returns a Deployment's path on the API server.
func pathOf(deployment *appsv1.Deployment) string {
	return "/apis/apps/v1/namespaces/" + deployment.Namespace + "/deployments/" + deployment.Name
}
