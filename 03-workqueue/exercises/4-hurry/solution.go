//go:build solution

// Package hurry is about the limits that a program puts on itself.
package hurry

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"
)

const (
	shortestBackoff = 5 * time.Millisecond
	longestBackoff  = time.Minute
)

// ClientConfig returns a config for clients of the server that config names. They hold no request back: how much is too much,
// the server says (429 and Retry-After, which client-go heeds by itself). config is the caller's, and stays as it is.
func ClientConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1 // none; 0 would be the default: 5 requests a second
	return config
}

// NewQueue returns a queue for keys. One that fails comes back after 5 milliseconds, then after twice as long each time, but
// never after more than a minute: however many others fail.
func NewQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	// The default limiter is two in one. This one counts each key's failures; there it pauses for up to 1000 seconds. The other
	// lets ten keys a second through, all together: it makes those wait that have hardly failed.
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](shortestBackoff, longestBackoff))
}
