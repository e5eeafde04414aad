package faultproxy

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestWait(t *testing.T) {
	fault := newFault("Test")
	if err := fault.Wait(t.Context(), 0); err != nil {
		t.Error(err)
	}
	waited := make(chan error)
	go func() { waited <- fault.Wait(t.Context(), 2) }()
	fault.hit()
	if len(waited) > 0 {
		t.Error("Wait for two hits returned after one")
	}
	fault.hit()
	if err := receive(t, "the wait ends", waited); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := fault.Wait(ctx, 3); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "Test (hits: 2), want 3") {
		t.Errorf("got error %v", err)
	}
	fault.Stop() // there is nothing to stop
}
