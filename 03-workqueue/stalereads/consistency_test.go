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
		"the cache has the write":                              {[]write{{ours, "pods", "6"}}, "5", "6", true},
		"the cache is behind":                                  {[]write{{ours, "pods", "6"}}, "7", "5", false},
		"the cache is behind by a digit: versions are numbers": {[]write{{ours, "pods", "10"}}, "9", "9", false},
		"one of two caches is behind":                          {[]write{{ours, "pods", "6"}, {ours, "foos", "7"}}, "6", "6", false},
		"the newest write counts, even if its answer is first": {[]write{{ours, "pods", "8"}, {ours, "pods", "7"}}, "5", "7", false},
		"the write was for another owner":                      {[]write{{theirs, "pods", "6"}}, "5", "5", true},
		"the cache doesn't know how far it has come":           {[]write{{ours, "pods", "6"}}, "", "", true},
	} {
		t.Run(sentence, func(t *testing.T) {
			store := newConsistencyStore(map[string]lastSynced{"foos": test.foos, "pods": test.pods})
			for _, w := range test.writes {
				store.WroteAt(w.owner, w.resource, w.version)
			}
			if err := store.EnsureReady(ours); (err == nil) != test.wantReady {
				t.Errorf("got the error %v, want ready: %t", err, test.wantReady)
			}
			if _, remembered := store.written[ours]; remembered == test.wantReady {
				t.Errorf("our writes are remembered: %t, want %t", remembered, !test.wantReady)
			}
		})
	}
}
