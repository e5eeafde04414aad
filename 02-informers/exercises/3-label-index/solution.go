//go:build solution

// Package labelindex finds Deployments by a label, without looking at those that haven't got it.
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

// Indexers are for the informer of Deployments: it is given them by its AddIndexers.
func Indexers() cache.Indexers {
	return cache.Indexers{byControllerLabel: indexByControllerLabel}
}

// indexByControllerLabel puts an object under its namespace and the label's value. One without the label stands nowhere. (An
// error from here wouldn't be handled by anybody: client-go panics.)
func indexByControllerLabel(obj any) ([]string, error) {
	object := obj.(metav1.Object)
	name, ok := object.GetLabels()[controllerLabel]
	if !ok {
		return nil, nil
	}
	return []string{indexValue(object.GetNamespace(), name)}, nil
}

// indexValue is what is written in the index, and what it is asked for.
func indexValue(namespace, foo string) string { return namespace + "/" + foo }

// Strays returns the Deployments in foo's namespace that carry its label and that it doesn't control. They are the cache's:
// don't change them. deployments is what the informer's GetIndexer returns.
func Strays(deployments cache.Indexer, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	labelled, err := deployments.ByIndex(byControllerLabel, indexValue(foo.Namespace, foo.Name))
	if err != nil {
		return nil, fmt.Errorf("list the Deployments with the label of Foo %s: %w", foo.Name, err)
	}
	var found []*appsv1.Deployment
	for _, obj := range labelled {
		if deployment := obj.(*appsv1.Deployment); !metav1.IsControlledBy(deployment, foo) {
			found = append(found, deployment)
		}
	}
	return found, nil
}
