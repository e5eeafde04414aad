// Log messages for failed lists and watches.

package main

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// watchErrorHandler logs why a list or watch failed, and how to fix it. The Reflector retries
// without our help, with a growing backoff.
func watchErrorHandler(ctx context.Context, reflector *cache.Reflector, err error) {
	switch {
	case apierrors.IsNotFound(err):
		klog.InfoS("Waiting: the server doesn't know this resource: is the CRD applied?", "type", reflector.TypeDescription())
	case apierrors.IsForbidden(err):
		klog.InfoS("Waiting: are the permissions applied?", "err", err)
	case apierrors.IsUnauthorized(err):
		klog.InfoS("Waiting: the server refuses the credentials; if they have expired, renew the kubeconfig and restart", "err", err)
	default:
		cache.DefaultWatchErrorHandler(ctx, reflector, err)
	}
}
