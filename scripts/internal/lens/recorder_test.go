package lens

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestARecorderSendsChanges(t *testing.T) {
	r := NewRecorder()
	first := r.Add(Item{Label: "first"})
	second := r.Add(Item{Label: "second"})
	batch, err := r.Since(t.Context(), 0)
	if err != nil || len(batch.Items) != 2 {
		t.Fatalf("got %+v, %v", batch, err)
	}
	r.Cause(first, second)
	r.Cause(first, second)
	batch, err = r.Since(t.Context(), batch.Position)
	if err != nil || len(batch.Items) != 1 {
		t.Fatalf("got %+v, %v", batch, err)
	}
	if difference := cmp.Diff([]int{first}, batch.Items[0].Causes); difference != "" {
		t.Error(difference)
	}
	r.Wake()
	if batch, err = r.Since(t.Context(), batch.Position); err != nil || len(batch.Items) != 0 {
		t.Errorf("after Wake: got %+v, %v", batch, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Since(ctx, batch.Position); !errors.Is(err, context.Canceled) {
		t.Errorf("nothing has changed, but Since returned %v", err)
	}
}
