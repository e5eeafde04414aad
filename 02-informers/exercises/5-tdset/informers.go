// How the controller learns about changes: from one informer for TDSets and another for Deployments.
// An informer lists and watches objects, keeps them in a cache, and calls handlers.

package main

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/listers"
	appslisters "k8s.io/client-go/listers/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"
)

// controller creates a Deployment for each TDSet and keeps it in the state that the TDSet asks for.
type controller struct {
	tdsets rest.Interface
	kube   kubernetes.Interface
	clock  clock.WithTickerAndDelayedExecution

	tdsetInformer      cache.SharedIndexInformer
	tdsetsLister       listers.ResourceIndexer[*TDSet]
	deploymentInformer cache.SharedIndexInformer
	deploymentsLister  appslisters.DeploymentLister

	// working is held while handle works, because each handler and each timer calls it in a
	// goroutine of its own.
	working sync.Mutex
	// timers has the timer for the next call of handle for each TDSet, if there is one.
	timers map[types.NamespacedName]clock.Timer
}
