// Later chapters have the same terminating.go, but only this one tests it.

package main

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestTerminating(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", errors.New("because"))
	namespaceTerminating := apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "web", errors.New("because"))
	namespaceTerminating.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	for sentence, test := range map[string]struct {
		err  error
		want bool
	}{
		"the write succeeded":            {nil, false},
		"a permission is missing":        {forbidden, false},
		"the namespace is being deleted": {namespaceTerminating, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			foo, other := aFoo("example", "web", 1), aFoo("other", "web", 1)
			seen := &terminatingOwners{}

			if got := seen.refused(foo, test.err); got != test.want {
				t.Errorf("refused returned %v, want %v", got, test.want)
			}
			if got := seen.has(foo); got != test.want {
				t.Errorf("after that, has returned %v, want %v", got, test.want)
			}
			if seen.has(other) {
				t.Error("has returned true for a Foo that was never refused, want false")
			}
		})
	}
}
