//go:build check || solution

// These tests check what Store promises. The caches are fakes that have come as far as a test says.
//
// As given, Store is right only in simple cases. `workshop test` checks these failures:
//
// fails: TestEnsureReady/the cache is at 9, and 10 was written
// says: ready, although a cache is behind
//
// fails: TestEnsureReady/the cache is at 10, and 9 was written
// says: not ready, although the caches have everything
//
// fails: TestEnsureReady/the cache of another resource is behind
// says: ready, although a cache is behind
//
// fails: TestEnsureReady/the answer to the newer write came first
// says: ready, although a cache is behind
//
// fails: TestEnsureReady/the cache doesn't know how far it has come
// says: not ready, although the caches have everything
//
// fails: TestWritesAreForgotten
// says: the caches have all writes, but those of 1 owner are still remembered
//
// fails: TestTheWritesOfOtherOwnersAreRemembered
// says: the cache doesn't have the write for default/theirs

package ownwrites

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
)

// cacheAt is a cache that has come that far.
type cacheAt string

func (c cacheAt) LastStoreSyncResourceVersion() string { return string(c) }

var ours, theirs = types.NamespacedName{Namespace: "default", Name: "ours"}, types.NamespacedName{Namespace: "default", Name: "theirs"}

func TestEnsureReady(t *testing.T) {
	type write struct {
		owner             types.NamespacedName
		resource, version string
	}
	for sentence, test := range map[string]struct {
		writes     []write
		foos, pods cacheAt
		wantReady  bool
	}{
		"nothing was written":                              {nil, "5", "5", true},
		"the cache has the write":                          {[]write{{ours, "pods", "6"}}, "5", "6", true},
		"the cache has more than the write":                {[]write{{ours, "pods", "6"}}, "5", "7", true},
		"the cache is behind":                              {[]write{{ours, "pods", "6"}}, "7", "5", false},
		"the cache is at 9, and 10 was written":            {[]write{{ours, "pods", "10"}}, "10", "9", false},
		"the cache is at 10, and 9 was written":            {[]write{{ours, "pods", "9"}}, "10", "10", true},
		"the cache of another resource is behind":          {[]write{{ours, "pods", "6"}, {ours, "foos", "7"}}, "7", "5", false},
		"the answer to the newer write came first":         {[]write{{ours, "pods", "8"}, {ours, "pods", "7"}}, "5", "7", false},
		"the write was for another owner":                  {[]write{{theirs, "pods", "6"}}, "5", "5", true},
		"the cache doesn't know how far it has come":       {[]write{{ours, "pods", "6"}}, "", "", true},
		"two owners have written, and ours was the first":  {[]write{{ours, "pods", "6"}, {theirs, "pods", "7"}}, "5", "6", true},
		"two owners have written, and ours was the second": {[]write{{theirs, "pods", "6"}, {ours, "pods", "7"}}, "5", "6", false},
	} {
		t.Run(sentence, func(t *testing.T) {
			store := &Store{Caches: map[string]LastSynced{"foos": test.foos, "pods": test.pods}}
			for _, w := range test.writes {
				store.WroteAt(w.owner, w.resource, w.version)
			}
			switch err := store.EnsureReady(ours); {
			case err == nil && !test.wantReady:
				t.Errorf("ready, although a cache is behind\nwrites: %v, caches: foos %q, pods %q", test.writes, test.foos, test.pods)
			case err != nil && test.wantReady:
				t.Errorf("not ready, although the caches have everything\nwrites: %v, error: %v", test.writes, err)
			}
		})
	}
}

func TestWritesAreForgotten(t *testing.T) {
	store := &Store{Caches: map[string]LastSynced{"pods": cacheAt("5")}}
	store.WroteAt(ours, "pods", "6")
	if err := store.EnsureReady(ours); err == nil || store.Owners() != 1 {
		t.Fatalf("the cache is behind: got the error %v, and %d owners, want an error and 1", err, store.Owners())
	}
	store.Caches["pods"] = cacheAt("6")
	if err := store.EnsureReady(ours); err != nil {
		t.Fatalf("the cache has the write: got the error %v", err)
	}
	if n := store.Owners(); n != 0 {
		t.Errorf("the caches have all writes, but those of %d owner are still remembered", n)
	}
}

func TestTheWritesOfOtherOwnersAreRemembered(t *testing.T) {
	store := &Store{Caches: map[string]LastSynced{"pods": cacheAt("7")}}
	store.WroteAt(ours, "pods", "6")
	store.WroteAt(theirs, "pods", "9")
	if err := store.EnsureReady(ours); err != nil {
		t.Fatalf("the cache has the write for %s: got the error %v", ours, err)
	}
	if err := store.EnsureReady(theirs); err == nil || store.Owners() != 1 {
		t.Errorf("the cache doesn't have the write for %s: got the error %v, and %d owners, want an error and 1", theirs, err, store.Owners())
	}
}

// Several workers write for several owners at once. The race detector reports what isn't locked.
func TestSeveralWorkers(t *testing.T) {
	store := &Store{Caches: map[string]LastSynced{"pods": cacheAt("9")}}
	done := make(chan bool)
	for _, owner := range []types.NamespacedName{ours, theirs} {
		go func() {
			for range 100 {
				store.WroteAt(owner, "pods", "9")
				if err := store.EnsureReady(owner); err != nil {
					t.Error(err)
				}
			}
			done <- true
		}()
	}
	<-done
	<-done
}
