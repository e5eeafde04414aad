//go:build !solution

// Package hurry is about the limits that a program puts on itself.
package hurry

import (
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

// ClientConfig returns a config for clients of the server that config names. They hold no request back: how much is too much,
// the server says (429 and Retry-After, which client-go heeds by itself). config is the caller's, and stays as it is.
func ClientConfig(config *rest.Config) *rest.Config {
	// YOUR WORK: most examples take config as it comes.
	return config
}

// NewQueue returns a queue for keys. One that fails comes back after 5 milliseconds, then after twice as long each time, but
// never after more than a minute: however many others fail.
func NewQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	// YOUR WORK: most examples use this queue.
	return workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
}
