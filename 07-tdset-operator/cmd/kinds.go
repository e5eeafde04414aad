// The kinds that the controller watches, and which of their objects the cache keeps.

package main

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/controller"
)

var watchedKinds = []schema.GroupVersionKind{
	schedulev2.GroupVersion.WithKind("TDSet"),
	appsv1.SchemeGroupVersion.WithKind("Deployment"),
	corev1.SchemeGroupVersion.WithKind("Service"),
	corev1.SchemeGroupVersion.WithKind("Pod"),
}

// newMapper returns a RESTMapper that asks the API server for kinds that it doesn't know yet.
func newMapper(config *rest.Config) (meta.RESTMapper, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return apiutil.NewDynamicRESTMapper(config, client)
}

// unfinished selects the Pods that haven't finished. Evicted Pods stay Failed, and nobody deletes
// them. A Pod that finishes leaves the cache as if it were deleted.
var unfinished = fields.AndSelectors(
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodFailed)),
	fields.OneTermNotEqualSelector("status.phase", string(corev1.PodSucceeded)),
)

// ofTDSets selects the Pods of any TDSet. They are few among the Pods of a big cluster.
var ofTDSets, _ = labels.Parse(controller.TDSetLabel) // a constant, so there is no error
