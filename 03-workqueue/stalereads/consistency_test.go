package main

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// cacheAt is a cache that has come that far.
type cacheAt string

func (c cacheAt) LastStoreSyncResourceVersion() string { return string(c) }

func TestConsistencyStore(t *testing.T) {
	ours, theirs := types.NamespacedName{Name: "ours"}, types.NamespacedName{Name: "theirs"}
	type write struct {
		owner             types.NamespacedName
		resource, version string
	}
	for sentence, test := range map[string]struct {
		writes     []write
		foos, pods cacheAt
		wantReady  bool
	}{
		"nothing was written": {
			foos: "5", pods: "5", wantReady: true,
		},
		"the cache has the write": {
			writes: []write{{ours, "pods", "6"}},
			foos:   "5", pods: "6", wantReady: true,
		},
		"the cache is behind": {
			writes: []write{{ours, "pods", "6"}},
			foos:   "7", pods: "5", wantReady: false,
		},
		"the cache is behind by a digit: versions are numbers": {
			writes: []write{{ours, "pods", "10"}},
			foos:   "9", pods: "9", wantReady: false,
		},
		"one of two caches is behind": {
			writes: []write{{ours, "pods", "6"}, {ours, "foos", "7"}},
			foos:   "6", pods: "6", wantReady: false,
		},
		"the newest of several writes counts, even if its answer came first": {
			writes: []write{{ours, "pods", "8"}, {ours, "pods", "7"}},
			foos:   "5", pods: "7", wantReady: false,
		},
		"the write was for another owner": {
			writes: []write{{theirs, "pods", "6"}},
			foos:   "5", pods: "5", wantReady: true,
		},
		"the cache doesn't know how far it has come": {
			writes: []write{{ours, "pods", "6"}},
			foos:   "", pods: "", wantReady: true,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			store := newConsistencyStore(map[string]lastSynced{"foos": test.foos, "pods": test.pods})
			for _, w := range test.writes {
				store.WroteAt(w.owner, w.resource, w.version)
			}
			if err := store.EnsureReady(ours); (err == nil) != test.wantReady {
				t.Errorf("got the error %v, want ready: %t", err, test.wantReady)
			}
		})
	}
}

func TestConsistencyStoreForgets(t *testing.T) {
	key := types.NamespacedName{Name: "ours"}
	for sentence, forget := range map[string]func(*consistencyStore){
		"writes that the cache has":           func(s *consistencyStore) { s.caches["pods"] = cacheAt("6"); s.EnsureReady(key) },
		"the writes of an owner that is gone": func(s *consistencyStore) { s.Clear(key) },
	} {
		t.Run(sentence, func(t *testing.T) {
			store := newConsistencyStore(map[string]lastSynced{"pods": cacheAt("5")})
			store.WroteAt(key, "pods", "6")
			if err := store.EnsureReady(key); err == nil || len(store.written) != 1 {
				t.Fatalf("got the error %v, and %d owners, want one of each", err, len(store.written))
			}
			forget(store)
			if len(store.written) != 0 {
				t.Errorf("it still remembers %d owners", len(store.written))
			}
		})
	}
}
