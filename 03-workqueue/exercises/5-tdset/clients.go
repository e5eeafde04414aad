// How the controller gets its clients and informers. From chapter 04 on, generated code has the
// client for TDSets.

package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/listers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	schedulev1 "example.com/operators/03-workqueue/exercises/5-tdset/pkg/apis/schedule/v1"
)

// scheme maps the TDSet's kinds to their Go types.
var scheme = runtime.NewScheme()

func init() { utilruntime.Must(schedulev1.AddToScheme(scheme)) }

// newController returns a controller for the TDSets in namespace; "" means all namespaces. The
// informers never resync, because syncHandler returns the time at which it has to be called again.
func newController(ctx context.Context, config *rest.Config, namespace string, wallClock clock.WithTickerAndDelayedExecution) (*controller, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit, because the server has one that treats all clients fairly
	tdsets, err := newTDSetClient(config)
	if err != nil {
		return nil, fmt.Errorf("client for TDSets: %w", err)
	}
	kube, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("client for Deployments: %w", err)
	}
	listWatch := cache.NewListWatchFromClient(tdsets, "tdsets", namespace, fields.Everything())
	tdsetInformer := cache.NewSharedIndexInformer(listWatch, &TDSet{}, 0, cache.Indexers{})
	deployments := informers.NewSharedInformerFactoryWithOptions(kube, 0, informers.WithNamespace(namespace)).Apps().V1().Deployments()
	return &controller{
		tdsets:             tdsets,
		kube:               kube,
		clock:              wallClock,
		tdsetInformer:      tdsetInformer,
		tdsetsLister:       listers.New[*TDSet](tdsetInformer.GetIndexer(), groupVersion.WithResource("tdsets").GroupResource()),
		deploymentInformer: deployments.Informer(),
		deploymentsLister:  deployments.Lister(),
		queue:              newQueue(),
		recorder:           newRecorder(ctx, kube),
	}, nil
}

// newTDSetClient returns a client for TDSets.
func newTDSetClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.APIPath = "/apis"
	config.GroupVersion = &groupVersion
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	config.ContentType = runtime.ContentTypeJSON // protobuf is only for built-in types
	return rest.RESTClientFor(config)
}
