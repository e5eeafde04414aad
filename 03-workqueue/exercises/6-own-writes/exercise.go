//go:build !solution

// Package ownwrites remembers a controller's own writes until its caches have them.
package ownwrites

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// LastSynced is an informer's cache. It returns "" if it doesn't know how far it has come.
type LastSynced interface{ LastStoreSyncResourceVersion() string }

// Store remembers how far the caches must have come before an owner is processed again.
type Store struct {
	Caches map[string]LastSynced // by resource

	mutex   sync.Mutex
	written map[types.NamespacedName]map[string]string // resourceVersions, by owner and resource
}

// WroteAt remembers the resourceVersion that a write for this owner returned. Several workers may
// call it at once, and the answer to a newer write may come first.
func (s *Store) WroteAt(owner types.NamespacedName, resource, version string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.written == nil {
		s.written = map[types.NamespacedName]map[string]string{}
	}
	// YOUR WORK: which writes does this forget?
	s.written[owner] = map[string]string{resource: version}
}

// EnsureReady returns an error if a cache hasn't seen all writes for this owner yet. Writes for
// other owners don't matter. If a version can't be compared, it doesn't count, because otherwise
// the owner would never be processed again. Once the caches have the writes, they are forgotten.
func (s *Store) EnsureReady(owner types.NamespacedName) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	// YOUR WORK: a resourceVersion is a number. And what is never forgotten?
	for resource, written := range s.written[owner] {
		if read := s.Caches[resource].LastStoreSyncResourceVersion(); read < written {
			return fmt.Errorf("the cache of %s is at %s, but %s was written", resource, read, written)
		}
	}
	return nil
}

// Owners returns how many owners have writes that are remembered.
func (s *Store) Owners() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.written)
}
