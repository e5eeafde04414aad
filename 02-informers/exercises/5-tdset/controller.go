// The controller and its requests. As in the chapter, they use client-go. Reads return objects from
// the informers' caches, so don't change these objects. Every write states its assumption, so that
// the server refuses it with 409 if that is no longer true.

package main

import (
	"context"
	"fmt"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	appsclient "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	tdsets rest.Interface             // the client for TDSets
	apps   appsclient.AppsV1Interface // the client for Deployments
	clock  clock.WithTickerAndDelayedExecution

	tdsetInformer      cache.SharedIndexInformer
	tdsetsLister       listers.ResourceIndexer[*TDSet]
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	// working is held while handle works, because each informer and each timer calls it in a
	// goroutine of its own.
	working sync.Mutex
	// timers has the timer for the next call of handle for each TDSet, if there is one.
	timers map[types.NamespacedName]clock.Timer
}

// newController returns a controller for the TDSets in namespace; "" means all namespaces.
func newController(config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because the server has one that treats all clients fairly
	tdsets, err := newTDSetClient(config)
	if err != nil {
		return nil, fmt.Errorf("client for TDSets: %w", err)
	}
	apps, err := appsclient.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Deployments: %w", err)
	}
	tdsetInformer := newInformer(tdsets, "tdsets", namespace, &TDSet{})
	deploymentInformer := newInformer(apps.RESTClient(), "deployments", namespace, &appsv1.Deployment{})
	return &controller{
		tdsets:             tdsets,
		apps:               apps,
		clock:              wallClock,
		tdsetInformer:      tdsetInformer,
		tdsetsLister:       listers.New[*TDSet](tdsetInformer.GetIndexer(), groupVersion.WithResource("tdsets").GroupResource()),
		deploymentInformer: deploymentInformer,
		deploymentsLister:  appslisters.NewDeploymentLister(deploymentInformer.GetIndexer()),
		timers:             map[types.NamespacedName]clock.Timer{},
	}, nil
}

// newTDSetClient returns a client for TDSets.
func newTDSetClient(config *rest.Config) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		return nil, err
	}
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &groupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON // protobuf is only for built-in types
	return rest.RESTClientFor(config)
}

// newInformer returns an informer that lists and watches one resource with that client. It never
// resyncs.
func newInformer(client rest.Interface, resource, namespace string, kind runtime.Object) cache.SharedIndexInformer {
	listWatch := cache.NewListWatchFromClient(client, resource, namespace, fields.Everything())
	return cache.NewSharedIndexInformer(listWatch, kind, 0, cache.Indexers{})
}

func (c *controller) getTDSet(_ context.Context, key types.NamespacedName) (*TDSet, error) {
	return listers.NewNamespaced(c.tdsetsLister, key.Namespace).Get(key.Name)
}

func (c *controller) getDeployment(_ context.Context, namespace, name string) (*appsv1.Deployment, error) {
	return c.deploymentsLister.Deployments(namespace).Get(name)
}

// createDeployment assumes that there is no Deployment with that name.
func (c *controller) createDeployment(ctx context.Context, desired *appsv1.Deployment) error {
	_, err := c.apps.Deployments(desired.Namespace).Create(ctx, desired, metav1.CreateOptions{})
	return err
}

// updateDeployment assumes the resourceVersion in merged, which is that of the Deployment that was
// read.
func (c *controller) updateDeployment(ctx context.Context, merged *appsv1.Deployment) error {
	_, err := c.apps.Deployments(merged.Namespace).Update(ctx, merged, metav1.UpdateOptions{})
	return err
}

// updateTDSetStatus assumes tdset's resourceVersion, so the API server refuses a status that was
// computed from an old spec.
func (c *controller) updateTDSetStatus(ctx context.Context, tdset *TDSet, status TDSetStatus) error {
	updated := *tdset
	updated.Status = status
	return c.tdsets.Put().Namespace(tdset.Namespace).Resource("tdsets").Name(tdset.Name).SubResource("status").Body(&updated).Do(ctx).Error()
}
