// Reads. They come from the manager's cache, which costs no request but may be behind.

package controller

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
)

// read fills in the object that has tdset's name. If the cache doesn't have one, it asks the API
// server: the object may be new, and creating it again would change it.
func (r *TDSetReconciler) read(ctx context.Context, tdset *schedulev1.TDSet, object client.Object) error {
	err := r.Get(ctx, client.ObjectKeyFromObject(tdset), object)
	if apierrors.IsNotFound(err) {
		err = r.APIReader.Get(ctx, client.ObjectKeyFromObject(tdset), object)
	}
	return err
}
