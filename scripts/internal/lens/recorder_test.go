package lens

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecorderSendsChanges(t *testing.T) {
	r := NewRecorder(nil)
	first := r.Add(Item{Label: "first"})
	second := r.Add(Item{Label: "second"})
	batch, err := r.Since(t.Context(), 0)
	if err != nil || len(batch.Items) != 2 {
		t.Fatalf("got %+v, %v", batch, err)
	}
	r.Update(first, func(item *Item) { item.Until = 5 })
	r.Cause(first, second)
	r.Cause(first, second)
	batch, err = r.Since(t.Context(), batch.Position)
	if err != nil || len(batch.Items) != 2 || batch.Items[0].Until != 5 {
		t.Fatalf("got %+v, %v", batch, err)
	}
	if difference := cmp.Diff([]int{first}, batch.Items[1].Causes); difference != "" {
		t.Error(difference)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Since(ctx, batch.Position); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing has changed, but Since returned %v", err)
	}
}

func TestARecorderForgetsOldItemsAndCountsThem(t *testing.T) {
	var file bytes.Buffer
	r := NewRecorder(&file)
	const extra = 25
	for i := range most + extra {
		r.Add(Item{Label: fmt.Sprint(i)})
	}
	batch, err := r.Since(t.Context(), 0)
	if err != nil || len(batch.Items) != most || batch.Dropped != extra {
		t.Errorf("got %d items and %d dropped ones, %v", len(batch.Items), batch.Dropped, err)
	}
	r.Update(1, func(*Item) { t.Error("the item is gone") })
	recorded, err := ReadRecording(&file)
	if err != nil || len(recorded) != most+extra {
		t.Errorf("the recording has %d items, %v", len(recorded), err)
	}
}

// A page that was away for long gets all items again.
func TestARecorderSendsAllToThoseWhoAreFarBehind(t *testing.T) {
	r := NewRecorder(nil)
	id := r.Add(Item{})
	for range 2*most + 1 {
		r.Update(id, func(item *Item) { item.Until++ })
	}
	other := r.Add(Item{})
	batch, err := r.Since(t.Context(), 1)
	if err != nil || len(batch.Items) != 2 || batch.Items[0].ID != id || batch.Items[1].ID != other {
		t.Errorf("got %+v, %v", batch, err)
	}
}

func TestARecordingHasEachItemAsItWasLast(t *testing.T) {
	var file bytes.Buffer
	r := NewRecorder(&file)
	id := r.Add(Item{Label: "work"})
	r.Add(Item{Label: "request"})
	r.Update(id, func(item *Item) { item.Until = 7 })
	items, err := ReadRecording(&file)
	if err != nil {
		t.Fatal(err)
	}
	want := []Item{{ID: 1, Label: "work", Until: 7}, {ID: 2, Label: "request"}}
	if difference := cmp.Diff(want, items); difference != "" {
		t.Error(difference)
	}
	if r.Err() != nil {
		t.Error(r.Err())
	}
	if _, err := ReadRecording(bytes.NewBufferString("{}\nno")); err == nil {
		t.Error("a file that isn't a recording has no error")
	}
}
