package lens

import (
	"context"
	"slices"
	"sync"
)

// Recorder keeps items and their changes. It is safe for concurrent use.
type Recorder struct {
	mutex    sync.Mutex
	items    []recorded    // the first one has the ID 1
	position int           // how many changes there were
	next     chan struct{} // closed at the next change
}

// recorded is an item, and the position of its last change.
type recorded struct {
	Item
	changed int
}

func NewRecorder() *Recorder { return &Recorder{next: make(chan struct{})} }

// Add adds an item, and returns its ID.
func (r *Recorder) Add(item Item) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	item.ID = len(r.items) + 1
	r.wake()
	r.items = append(r.items, recorded{item, r.position})
	return item.ID
}

// Update changes an item. It does nothing if the ID is 0.
func (r *Recorder) Update(id int, change func(*Item)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if id > 0 {
		change(&r.items[id-1].Item)
		r.wake()
		r.items[id-1].changed = r.position
	}
}

// Cause records that one item caused another. A cause of 0 is an unknown one.
func (r *Recorder) Cause(cause, effect int) {
	r.Update(effect, func(item *Item) {
		if cause != 0 && cause != effect && !slices.Contains(item.Causes, cause) {
			item.Causes = append(item.Causes, cause)
		}
	})
}

// Get returns an item, or an empty one if the ID is 0.
func (r *Recorder) Get(id int) Item {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if id > 0 {
		return r.items[id-1].Item
	}
	return Item{}
}

// Last is the ID of the newest item, or 0.
func (r *Recorder) Last() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return len(r.items)
}

// Wake makes Since return, even if no item has changed.
func (r *Recorder) Wake() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.wake()
}

func (r *Recorder) wake() {
	r.position++
	close(r.next)
	r.next = make(chan struct{})
}

// Batch is what has changed since a position.
type Batch struct {
	Items    []Item
	Position int // where the next batch begins
}

// Since returns the items that have changed after a position, which is 0 at first. It waits until
// there is a change, Wake is called, or ctx ends.
func (r *Recorder) Since(ctx context.Context, position int) (Batch, error) {
	for {
		batch, next := r.batch(position)
		if batch.Position > position {
			return batch, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

// All returns all items, in the order in which they were added.
func (r *Recorder) All() []Item {
	batch, _ := r.batch(0)
	return batch.Items
}

func (r *Recorder) batch(position int) (Batch, <-chan struct{}) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	batch := Batch{Position: r.position}
	for _, item := range r.items {
		if item.changed > position {
			batch.Items = append(batch.Items, item.Item)
		}
	}
	return batch, r.next
}
