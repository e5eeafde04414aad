//go:build solution

// Command 5-tdset is a controller for TDSets, with a generated client and server-side apply. A
// TDSet asks for a Deployment that is scaled by the time of day.
package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	schedulev1ac "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
	"example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/clientset/versioned"
	scheduleinformers "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/informers/externalversions"
)

// newController returns a controller of the TDSets in namespace, where "" means all namespaces. It
// doesn't start the informers, because run does that.
func newController(ctx context.Context, config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because the server has one that treats all clients fairly
	tdsets, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for TDSets: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Deployments: %w", err)
	}
	// The informers never resync. The desired number of replicas changes with the time of day, but
	// syncHandler returns the time of the next change.
	tdsetFactory := scheduleinformers.NewSharedInformerFactoryWithOptions(tdsets, 0, scheduleinformers.WithNamespace(namespace))
	kubeFactory := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace))
	tdsetsInformer := tdsetFactory.Schedule().V1().TDSets()
	deployments := kubeFactory.Apps().V1().Deployments()
	return &controller{
		tdsets:             tdsets,
		kube:               kube,
		clock:              wallClock,
		tdsetInformer:      tdsetsInformer.Informer(),
		tdsetsLister:       tdsetsInformer.Lister(),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue:              newQueue(),
		recorder:           newRecorder(ctx, kube),
	}, nil
}

// updateTDSetStatus assumes tdset's resourceVersion, so the server refuses a status that was
// computed from an old spec. It takes the status over, but leaves other conditions to their owners,
// because it doesn't send them.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	ready := meta.FindStatusCondition(status.Conditions, conditionReady)
	desired := schedulev1ac.TDSet(tdset.Name, tdset.Namespace).
		WithUID(tdset.UID).
		WithResourceVersion(tdset.ResourceVersion).
		WithStatus(schedulev1ac.TDSetStatus().
			WithObservedGeneration(status.ObservedGeneration).
			WithConditions(metav1ac.Condition().
				WithType(ready.Type).
				WithStatus(ready.Status).
				WithObservedGeneration(ready.ObservedGeneration).
				WithLastTransitionTime(ready.LastTransitionTime).
				WithReason(ready.Reason).
				WithMessage(ready.Message)))
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	_, err := c.tdsets.ScheduleV1().TDSets(tdset.Namespace).ApplyStatus(ctx, desired, options)
	return err
}
