package lens

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecorderSendsChanges(t *testing.T) {
	r := &Recorder{}
	first := r.Add(Item{Label: "first"})
	second := r.Add(Item{Label: "second"})
	items, position := r.Since(0)
	if len(items) != 2 {
		t.Fatalf("got %+v", items)
	}
	r.Cause(first, second)
	r.Cause(first, second)
	items, position = r.Since(position)
	if len(items) != 1 || cmp.Diff([]int{first}, items[0].Causes) != "" {
		t.Fatalf("got %+v", items)
	}
	if items, _ = r.Since(position); len(items) != 0 {
		t.Errorf("nothing has changed, but got %+v", items)
	}
}
