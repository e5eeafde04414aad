// What the log says while an informer can't list or watch.

package main

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	v1 "example.com/operators/07-tdset-operator/api/v1"
	"example.com/operators/07-tdset-operator/test/utils"
)

func TestExplain(t *testing.T) {
	tdsets := tdsetsResource.GroupResource()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the CRD is missing":          {apierrors.NewNotFound(tdsets, ""), "is the CRD applied (make install)?"},
		"the permissions are missing": {apierrors.NewForbidden(tdsets, "", errors.New("no RBAC policy matched")), "are the permissions applied (config/rbac)?"},
		"the credentials are refused": {apierrors.NewUnauthorized("expired"), "the server refuses the credentials"},
		"the server is away":          {errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			log := utils.CaptureLog(t)
			reflector := cache.NewReflector(&cache.ListWatch{}, &v1.TDSet{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)

			explain(t.Context(), reflector, fmt.Errorf("failed to list %s: %w", reflector.TypeDescription(), test.err))

			log.MustHave(t, test.want)
		})
	}
}
