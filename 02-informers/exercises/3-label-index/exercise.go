//go:build !solution

// Package labelindex finds Deployments by a label, without looking at those that don't have it.
package labelindex

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/tools/cache"

	samplecontrollerv1alpha1 "example.com/operators/02-informers/pkg/apis/samplecontroller/v1alpha1"
)

// controllerLabel is the label whose value is a Foo's name.
const controllerLabel = "controller"

// Indexers returns the indexes for the informer of Deployments. They are passed to its AddIndexers.
func Indexers() cache.Indexers {
	// YOUR WORK: return an index of the Deployments that have the label.
	return cache.Indexers{}
}

// Strays returns the Deployments in foo's namespace that have its label, but that it doesn't
// control. They belong to the cache, so don't change them. deployments is the result of the
// informer's GetIndexer.
func Strays(deployments cache.Indexer, foo *samplecontrollerv1alpha1.Foo) ([]*appsv1.Deployment, error) {
	// YOUR WORK: this finds the right Deployments, but looks at every Deployment in the namespace.
	// Use the index instead.
	selector := labels.SelectorFromSet(labels.Set{controllerLabel: foo.Name})
	labeled, err := appslisters.NewDeploymentLister(deployments).Deployments(foo.Namespace).List(selector)
	if err != nil {
		return nil, fmt.Errorf("list the Deployments with the label of Foo %s: %w", foo.Name, err)
	}
	var found []*appsv1.Deployment
	for _, deployment := range labeled {
		if !metav1.IsControlledBy(deployment, foo) {
			found = append(found, deployment)
		}
	}
	return found, nil
}
