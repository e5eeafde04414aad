// An informer that prints each step. The Reflector, the FIFO, the loop that empties it, and the
// store are client-go's. Only the step between FIFO and store is written out here, after
// processDeltasInBatch and processReplacedAllInfo in client-go's tools/cache/controller.go, which
// print nothing.

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

type informer struct {
	store     cache.Indexer
	out       io.Writer
	handle    func() // what each handler does before its call is printed
	bookmarks bool   // whether to print bookmarks
}

// newInformer returns an informer that prints to out.
func newInformer(out io.Writer, handle func()) *informer {
	return &informer{store: cache.NewIndexer(cache.DeletionHandlingMetaNamespaceKeyFunc, cache.Indexers{}), out: out, handle: handle}
}

// run watches ConfigMaps until ctx ends.
func (i *informer) run(ctx context.Context, lw cache.ListerWatcher) {
	cache.New(&cache.Config{
		ListerWatcher: lw, // for the Reflector
		ObjectType:    &corev1.ConfigMap{},
		Queue:         newFIFO(),
		Process:       i.process,      // called with one delta,
		ProcessBatch:  i.processBatch, // or with several
	}).RunWithContext(ctx)
}

// newFIFO returns a FIFO with the options that client-go 0.37 gives to every informer's.
func newFIFO() *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true, EmitDeltaTypeBookmark: true})
}

// process handles a delta that comes alone, as that of a whole list always does.
func (i *informer) process(obj any, isInInitialList bool) error {
	deltas := obj.(cache.Deltas)
	switch object := deltas[0].Object.(type) {
	case cache.ReplacedAllInfo:
		i.print("ReplacedAll", names(object.Objects...))
		return i.change(i.compare(object.Objects), isInInitialList)
	case cache.BookmarkInfo: // no change, but the version up to which all changes have been sent
		if i.bookmarks {
			i.print("Bookmark", "@"+object.ResourceVersion)
		}
		i.store.Bookmark(object.ResourceVersion)
		return nil
	default:
		return i.processBatch(deltas, isInInitialList)
	}
}

// processBatch handles deltas of different objects.
func (i *informer) processBatch(deltas []cache.Delta, isInInitialList bool) error {
	for _, delta := range deltas {
		i.print(string(delta.Type), names(delta.Object))
	}
	return i.change(deltas, isInInitialList)
}

// compare returns what a list of everything means for each object. If the store has an object that
// isn't in the list, the watch has missed its deletion.
func (i *informer) compare(list []any) (deltas []cache.Delta) {
	for _, key := range i.store.ListKeys() {
		if !slices.ContainsFunc(list, func(listed any) bool { return keyOf(listed) == key }) {
			old, _, _ := i.store.GetByKey(key)
			deltas = append(deltas, cache.Delta{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: key, Obj: old}})
		}
	}
	for _, object := range list {
		deltas = append(deltas, cache.Delta{Type: cache.Replaced, Object: object})
	}
	return deltas
}

// change makes all changes in the store at once. Then it calls the handlers, one after another.
func (i *informer) change(deltas []cache.Delta, isInInitialList bool) error {
	var changes []cache.Transaction
	var calls []string
	for _, delta := range deltas {
		old, exists, err := i.store.Get(delta.Object)
		if err != nil {
			return err
		}
		change := cache.TransactionTypeUpdate // also adds an object
		switch {
		case delta.Type == cache.Deleted:
			change = cache.TransactionTypeDelete
			calls = append(calls, "OnDelete "+names(delta.Object))
		case exists:
			calls = append(calls, fmt.Sprintf("OnUpdate %s -> %s", names(old), names(delta.Object)))
		default:
			calls = append(calls, fmt.Sprintf("OnAdd %s isInInitialList=%t", names(delta.Object), isInInitialList))
		}
		changes = append(changes, cache.Transaction{Type: change, Object: delta.Object})
	}
	i.print("  before", names(i.store.List()...))
	if err := i.store.(cache.TransactionStore).Transaction(changes...); err != nil {
		return err
	}
	i.print("  after", names(i.store.List()...))
	for _, call := range calls {
		i.handle()
		i.print("  handler", call)
	}
	return nil
}

func (i *informer) print(step, about string) { fmt.Fprintf(i.out, "%-12s %s\n", step, about) }

// names returns the objects as name@resourceVersion, in alphabetical order.
func names(objects ...any) string {
	var all []string
	for _, object := range objects {
		unknown, missed := object.(cache.DeletedFinalStateUnknown)
		if missed {
			object = unknown.Obj
		}
		name := object.(*corev1.ConfigMap).Name + "@" + object.(*corev1.ConfigMap).ResourceVersion
		if missed {
			name = "tombstone of " + name
		}
		all = append(all, name)
	}
	slices.Sort(all)
	return cmp.Or(strings.Join(all, " "), "nothing")
}

func keyOf(object any) string { return cache.MetaObjectToName(object.(*corev1.ConfigMap)).String() }
