package lens

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
)

// most is the number of items that a Recorder keeps for the page. Older ones are only in the
// recording.
const most = 10_000

// Recorder keeps items and their changes. It is safe for concurrent use.
type Recorder struct {
	file io.Writer // a JSON line for each change; may be nil

	mutex   sync.Mutex
	items   map[int]*Item
	last    int   // the newest item's ID
	changed []int // IDs of items, in the order of their changes
	skipped int   // how many changes were removed from changed
	dropped int   // how many items are only in the recording
	woken   int   // how often Wake was called
	next    chan struct{}
	failure error // the first error of writing to file
}

// NewRecorder returns a Recorder that also writes each change to file, unless that is nil.
func NewRecorder(file io.Writer) *Recorder {
	return &Recorder{file: file, items: map[int]*Item{}, next: make(chan struct{})}
}

// Add adds an item, and returns its ID.
func (r *Recorder) Add(item Item) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.last++
	item.ID = r.last
	r.store(item)
	return item.ID
}

// Update changes an item. It does nothing if the item is only in the recording.
func (r *Recorder) Update(id int, change func(*Item)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if item := r.items[id]; item != nil {
		changed := *item
		changed.Causes = slices.Clone(item.Causes)
		change(&changed)
		r.store(changed)
	}
}

// Cause records that one item caused another.
func (r *Recorder) Cause(cause, effect int) {
	r.Update(effect, func(item *Item) {
		if cause != 0 && cause != effect && !slices.Contains(item.Causes, cause) {
			item.Causes = append(item.Causes, cause)
		}
	})
}

func (r *Recorder) store(item Item) {
	r.items[item.ID] = &item
	r.changed = append(r.changed, item.ID)
	if len(r.changed) > 2*most {
		cut := len(r.changed) - most
		r.changed, r.skipped = slices.Clone(r.changed[cut:]), r.skipped+cut
	}
	if oldest := item.ID - most; r.items[oldest] != nil {
		delete(r.items, oldest)
		r.dropped++
	}
	if r.file != nil && r.failure == nil {
		line, err := json.Marshal(item)
		if err == nil {
			_, err = r.file.Write(append(line, '\n'))
		}
		if err != nil {
			r.failure = fmt.Errorf("write the recording: %w", err)
		}
	}
	r.wake()
}

func (r *Recorder) wake() {
	close(r.next)
	r.next = make(chan struct{})
}

// Batch is what has changed since a position.
type Batch struct {
	Items []Item `json:"items"`
	// Dropped is the number of old items that the page can't get any more: there are too many.
	Dropped int `json:"dropped"`
	// Position is where the next batch begins.
	Position int `json:"position"`
}

// Since returns the changes after a position, which is 0 at first. It waits until there is one,
// Wake is called, or ctx ends.
func (r *Recorder) Since(ctx context.Context, position int) (Batch, error) {
	woken := -1
	for {
		r.mutex.Lock()
		batch, next, now := r.batch(position), r.next, r.woken
		r.mutex.Unlock()
		if len(batch.Items) > 0 || woken >= 0 && now != woken {
			return batch, nil
		}
		woken = now
		select {
		case <-next:
		case <-ctx.Done():
			return Batch{}, ctx.Err()
		}
	}
}

func (r *Recorder) batch(position int) Batch {
	batch := Batch{Dropped: r.dropped, Position: r.skipped + len(r.changed)}
	ids := map[int]bool{}
	if position < r.skipped { // the page is too far behind, so it gets all items
		for id := range r.items {
			ids[id] = true
		}
	} else {
		for _, id := range r.changed[position-r.skipped:] {
			ids[id] = true
		}
	}
	for id := range ids {
		if item := r.items[id]; item != nil {
			batch.Items = append(batch.Items, *item)
		}
	}
	slices.SortFunc(batch.Items, func(a, b Item) int { return a.ID - b.ID })
	return batch
}

// All returns all items that the page can still get, in the order in which they were added.
func (r *Recorder) All() []Item {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.batch(-1).Items
}

// Get returns an item, or an empty one if only the recording has it.
func (r *Recorder) Get(id int) Item {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if item := r.items[id]; item != nil {
		return *item
	}
	return Item{}
}

// Last is the ID of the newest item, or 0.
func (r *Recorder) Last() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.last
}

// Wake makes Since return, even if there are no changes.
func (r *Recorder) Wake() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.woken++
	r.wake()
}

// oldest is the ID of the oldest item that the page can still get.
func (r *Recorder) oldest() int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.last - most
}

// Err returns the first error that occurred while the recording was written.
func (r *Recorder) Err() error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.failure
}

// ReadRecording returns the items in a recording, each in its last state.
func ReadRecording(file io.Reader) ([]Item, error) {
	var items []Item
	index := map[int]int{}
	decoder := json.NewDecoder(file)
	for line := 1; ; line++ {
		var item Item
		err := decoder.Decode(&item)
		if err == io.EOF {
			return items, nil
		}
		if err != nil {
			return nil, fmt.Errorf("line %d isn't an item: %w", line, err)
		}
		if i, known := index[item.ID]; known {
			items[i] = item
			continue
		}
		index[item.ID] = len(items)
		items = append(items, item)
	}
}
