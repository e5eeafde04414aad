// The log messages while an informer can't list or watch.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

func TestWatchErrorHandler(t *testing.T) {
	foos := samplecontrollerv1alpha1.GroupVersion.WithResource("foos").GroupResource()
	for name, test := range map[string]struct {
		err  error
		want string
	}{
		"the CRD is missing":          {apierrors.NewNotFound(foos, ""), "is the CRD applied?"},
		"the permissions are missing": {apierrors.NewForbidden(foos, "", errors.New("no RBAC policy matched")), "are the permissions applied?"},
		"the credentials are refused": {apierrors.NewUnauthorized("expired"), "the server refuses the credentials"},
		"the server is unreachable":   {errors.New("connection refused"), "connection refused"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			defer klog.CaptureState().Restore()
			klog.LogToStderr(false)
			klog.SetOutput(&log)
			reflector := cache.NewReflector(&cache.ListWatch{}, &samplecontrollerv1alpha1.Foo{}, cache.NewStore(cache.MetaNamespaceKeyFunc), 0)

			watchErrorHandler(t.Context(), reflector, fmt.Errorf("failed to list %s: %w", reflector.TypeDescription(), test.err))

			klog.Flush()
			if !strings.Contains(log.String(), test.want) {
				t.Errorf("the log doesn't contain %q:\n%s", test.want, &log)
			}
		})
	}
}
