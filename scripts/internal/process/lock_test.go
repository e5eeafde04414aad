package process

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestTheSecondWaitsForTheLock(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(t.Context(), dir, func(string) { t.Error("the first one waits") })
	if err != nil {
		t.Fatal(err)
	}
	waiting, cancel := context.WithCancel(t.Context())
	if _, err := Lock(waiting, dir, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting ends with %v, want the context's end", err)
	}
	second, err := Lock(t.Context(), dir, func(holder string) {
		if !strings.Contains(holder, "pid") {
			t.Errorf("holder: %q", holder)
		}
		release()
	})
	if err != nil {
		t.Fatal(err)
	}
	second()
}
