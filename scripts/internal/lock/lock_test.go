package lock

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSecondWaitsForTheFirst(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	release, err := Acquire(t.Context(), dir, func(string) { t.Error("the first one waits") })
	if err != nil {
		t.Fatal(err)
	}
	second, err := Acquire(t.Context(), dir, func(holder string) {
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

func TestALockFileThatWasRemovedIsCreatedAgain(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	release, err := Acquire(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	second, err := Acquire(t.Context(), dir, func(string) {
		if err := os.RemoveAll(dir); err != nil { // as `down --purge` does
			t.Error(err)
		}
		release()
	})
	if err != nil {
		t.Fatal(err)
	}
	defer second()
	if _, err := os.Stat(filepath.Join(dir, "lock")); err != nil {
		t.Error(err)
	}
}

func TestWaitingEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	release, err := Acquire(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Acquire(ctx, dir, func(string) { cancel() }); err == nil {
		t.Error("got a lock that another process holds")
	}
}
