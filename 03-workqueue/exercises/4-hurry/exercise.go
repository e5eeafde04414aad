//go:build !solution

// Package hurry configures a client and a queue that don't slow themselves down.
package hurry

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// ClientConfig returns a config for clients of the same server, as the same user. They never delay
// a request on their own. Only the server decides how much is too much: it answers 429 and
// Retry-After, and client-go waits that long. The caller's config isn't changed.
func ClientConfig(config *rest.Config) *rest.Config {
	// YOUR WORK: most examples use config as it is.
	return config
}

// NewQueue returns a queue for keys. A key that fails is requeued after 5 milliseconds. Each
// further failure doubles the pause, up to a minute. It doesn't matter how many other keys fail.
func NewQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	// YOUR WORK: most examples use this queue.
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
}
