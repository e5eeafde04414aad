//go:build solution

// Package labelindex finds Deployments by a label, without looking at those that don't have it.
package labelindex

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// controllerLabel is the label whose value is a Foo's name.
const controllerLabel = "controller"

// byControllerLabel is the name of the index.
const byControllerLabel = "label controller"

// Indexers returns the indexes for the informer of Deployments. They are passed to its AddIndexers.
func Indexers() cache.Indexers {
	return cache.Indexers{byControllerLabel: indexByControllerLabel}
}

// indexByControllerLabel indexes an object by its namespace and the label's value, if it has the
// label. (Don't return an error from an index function, because client-go panics.)
func indexByControllerLabel(obj any) ([]string, error) {
	object := obj.(metav1.Object)
	name, ok := object.GetLabels()[controllerLabel]
	if !ok {
		return nil, nil
	}
	return []string{indexValue(object.GetNamespace(), name)}, nil
}

// indexValue returns the value under which the index lists the Deployments with a Foo's label.
func indexValue(namespace, foo string) string { return namespace + "/" + foo }

// Strays returns the Deployments in foo's namespace that have its label, but that it doesn't
// control. They belong to the cache, so don't change them. deployments is the result of the
// informer's GetIndexer.
func Strays(deployments cache.Indexer, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	labeled, err := deployments.ByIndex(byControllerLabel, indexValue(foo.Namespace, foo.Name))
	if err != nil {
		return nil, fmt.Errorf("list the Deployments with the label of Foo %s: %w", foo.Name, err)
	}
	var found []*appsv1.Deployment
	for _, obj := range labeled {
		if deployment := obj.(*appsv1.Deployment); !metav1.IsControlledBy(deployment, foo) {
			found = append(found, deployment)
		}
	}
	return found, nil
}
