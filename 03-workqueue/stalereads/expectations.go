// Expectations, as in Kubernetes' ReplicaSet controller (pkg/controller/controller_utils.go). Before
// it creates Pods, it writes down how many. The handler crosses one off for each Pod that arrives.
// Until all have arrived, no more Pods are created.

package main

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// expectationsTimeout ends the wait for Pods that never arrive, for example because a deletion came
// first and the watch missed both. The ReplicaSet controller waits just as long.
const expectationsTimeout = 5 * time.Minute

// expectations count the Pods that have been created and haven't arrived in the cache.
type expectations struct {
	mutex   sync.Mutex
	missing map[types.NamespacedName]int
	since   map[types.NamespacedName]time.Time
}

func newExpectations() *expectations {
	return &expectations{missing: map[types.NamespacedName]int{}, since: map[types.NamespacedName]time.Time{}}
}

// expectCreations must be called before the Pods are created. Afterwards would be too late, because
// a Pod's event can be quicker than the answer to the request.
func (e *expectations) expectCreations(owner types.NamespacedName, pods int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	e.missing[owner], e.since[owner] = pods, time.Now()
}

// creationsObserved crosses off Pods: they have arrived, or they couldn't be created.
func (e *expectations) creationsObserved(owner types.NamespacedName, pods int) {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.missing[owner] > 0 {
		e.missing[owner] -= pods
	}
}

// satisfied reports whether the owner may get more Pods.
func (e *expectations) satisfied(owner types.NamespacedName) bool {
	e.mutex.Lock()
	defer e.mutex.Unlock()
	if e.missing[owner] > 0 && time.Since(e.since[owner]) < expectationsTimeout {
		return false
	}
	delete(e.missing, owner)
	delete(e.since, owner)
	return true
}
