//go:build solution

// Command 5-tdset is a controller for TDSets, with a generated client and server-side apply. A
// TDSet asks for a Deployment that is scaled by the time of day.
package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"

	schedulev1ac "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/applyconfiguration/schedule/v1"
	"example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/clientset/versioned"
	scheduleinformers "example.com/operators/04-codegen/exercises/5-tdset/pkg/generated/informers/externalversions"
)

// fieldOwner is the controller's name in managedFields.
const fieldOwner = "tdset-controller"

// newController returns a controller of the TDSets in namespace, where "" means all namespaces. It
// doesn't start the informers, because run does that.
func newController(config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
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
	}, nil
}

// createDeployment assumes that there is no Deployment with that name. An apply can't say so, and
// would change an existing one. But without force, it can't change somebody else's fields: the
// server answers 409.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldOwner}
	_, err := c.kube.AppsV1().Deployments(*desired.Namespace).Apply(ctx, desired, options)
	return err
}

// updateDeployment takes over the fields that desired sets, no matter who changed them, so observed
// must be a Deployment that we control. Its UID prevents the apply from changing another Deployment
// with that name, and from creating one.
func (c *controller) updateDeployment(ctx context.Context, observed *appsv1.Deployment, desired *appsv1ac.DeploymentApplyConfiguration) error {
	options := metav1.ApplyOptions{FieldManager: fieldOwner, Force: true}
	_, err := c.kube.AppsV1().Deployments(observed.Namespace).Apply(ctx, desired.WithUID(observed.UID), options)
	return err
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
