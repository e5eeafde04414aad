// Remembering our own writes. The API server's answer to a write has the object's new
// resourceVersion. The controller remembers it, and doesn't process that Foo again until the cache
// has come as far. Kubernetes' own controllers do this since 1.36, under the same names
// (pkg/controller/util/consistency).

package main

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// lastSynced is an informer's cache. "" means that it doesn't know how far it has come, which is so
// if client-go's feature gate AtomicFIFO is off.
type lastSynced interface{ LastStoreSyncResourceVersion() string }

// consistencyStore remembers how far the caches must have come before an owner is processed again.
type consistencyStore struct {
	caches map[string]lastSynced // by resource

	mutex   sync.Mutex
	written map[types.NamespacedName]map[string]string // resourceVersions, by owner and resource
}

func newConsistencyStore(caches map[string]lastSynced) *consistencyStore {
	return &consistencyStore{caches: caches, written: map[types.NamespacedName]map[string]string{}}
}

// WroteAt remembers the resourceVersion that a write for this owner returned. Only the newest one
// of each resource counts, because a cache that has come that far has seen the others too.
func (s *consistencyStore) WroteAt(owner types.NamespacedName, resource, version string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.written[owner] == nil {
		s.written[owner] = map[string]string{}
	}
	if !isOlder(version, s.written[owner][resource]) {
		s.written[owner][resource] = version
	}
}

// EnsureReady returns an error if a cache hasn't seen all writes for this owner yet. Then the key
// is retried. Once the caches have them, it forgets the writes.
func (s *consistencyStore) EnsureReady(owner types.NamespacedName) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for resource, written := range s.written[owner] {
		if read := s.caches[resource].LastStoreSyncResourceVersion(); isOlder(read, written) {
			return fmt.Errorf("the cache of %s is at resourceVersion %s, but this controller has written %s", resource, read, written)
		}
	}
	delete(s.written, owner)
	return nil
}

// Clear forgets an owner that is gone. Otherwise the map would grow forever.
func (s *consistencyStore) Clear(owner types.NamespacedName) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	delete(s.written, owner)
}

// isOlder compares resourceVersions as numbers, which clients may do since Kubernetes 1.35. If one
// isn't a number, the answer is no, so that an unusual server doesn't block the controller forever.
func isOlder(a, b string) bool {
	order, err := resourceversion.CompareResourceVersion(a, b)
	return err == nil && order < 0
}
