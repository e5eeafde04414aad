//go:build !solution

// Package lostupdate is about changing something that others change as well.
package lostupdate

import (
	"context"
	"net/http"

	appsv1 "k8s.io/api/apps/v1"

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
	// YOUR WORK: read, compare, change only what is ours, and write.
	return client.Do(ctx, http.MethodPut, pathOf(desired), nil, desired, nil)
}

// pathOf is where the API server has a Deployment.
func pathOf(deployment *appsv1.Deployment) string {
	return "/apis/apps/v1/namespaces/" + deployment.Namespace + "/deployments/" + deployment.Name
}
