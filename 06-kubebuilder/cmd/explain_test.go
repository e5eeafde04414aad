// What the log says while an informer can't list or watch.

package main

import (
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"

	"example.com/operators/06-kubebuilder/api/v1alpha1"
	"example.com/operators/06-kubebuilder/test/utils"
)

func TestExplain(t *testing.T) {
	foos := foosResource.GroupResource()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the CRD is missing":          {apierrors.NewNotFound(foos, ""), "is the CRD applied (make install)?"},
		"the permissions are missing": {apierrors.NewForbidden(foos, "", errors.New("no RBAC policy matched")), "are the permissions applied (config/rbac)?"},
		"the credentials are refused": {apierrors.NewUnauthorized("expired"), "the server refuses the credentials"},
		"the server is away":          {errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			log := utils.CaptureLog(t)
			reflector := cache.NewReflector(&cache.ListWatch{}, &v1alpha1.Foo{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)

			explain(t.Context(), reflector, fmt.Errorf("failed to list %s: %w", reflector.TypeDescription(), test.err))

			log.MustHave(t, test.want)
		})
	}
}
