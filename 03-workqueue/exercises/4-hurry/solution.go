//go:build solution

// Package hurry configures a client and a queue that don't slow themselves down.
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

// ClientConfig returns a config for clients of the same server, as the same user. They never delay
// a request on their own. Only the server decides how much is too much: it answers 429 and
// Retry-After, and client-go waits that long. The caller's config isn't changed.
func ClientConfig(config *rest.Config) *rest.Config {
	config = rest.CopyConfig(config)
	config.QPS = -1 // no limit; 0 would mean the default, 5 requests a second
	return config
}

// NewQueue returns a queue for keys. A key that fails is requeued after 5 milliseconds. Each
// further failure doubles the pause, up to a minute. It doesn't matter how many other keys fail.
func NewQueue() workqueue.TypedRateLimitingInterface[types.NamespacedName] {
	// The default limiter combines two. One counts each key's failures, as this one does, but
	// pauses for up to 1000 seconds. The other one lets only ten keys a second through, so a key
	// has to wait even if it has failed just once.
	return workqueue.NewTypedRateLimitingQueue(
		workqueue.NewTypedItemExponentialFailureRateLimiter[types.NamespacedName](shortestBackoff, longestBackoff))
}
