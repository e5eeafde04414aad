package lens

import (
	"slices"
	"sync"
)

// Recorder keeps items and their changes. It is safe for concurrent use.
type Recorder struct {
	mutex    sync.Mutex
	items    []recorded // the first one has the ID 1
	position int        // how many changes there were
}

// recorded is an item, and the position of its last change.
type recorded struct {
	Item
	changed int
}

// Add adds an item, and returns its ID.
func (r *Recorder) Add(item Item) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	item.ID = len(r.items) + 1
	r.position++
	r.items = append(r.items, recorded{item, r.position})
	return item.ID
}

// Update changes an item. It does nothing if the ID is 0.
func (r *Recorder) Update(id int, change func(*Item)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if id > 0 {
		change(&r.items[id-1].Item)
		r.position++
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

// Since returns the items that have changed after a position, which is 0 at first, and the position
// after them.
func (r *Recorder) Since(position int) (items []Item, next int) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	for _, item := range r.items {
		if item.changed > position {
			items = append(items, item.Item)
		}
	}
	return items, r.position
}

// All returns all items, in the order in which they were added.
func (r *Recorder) All() []Item {
	items, _ := r.Since(0)
	return items
}
