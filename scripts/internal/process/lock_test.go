package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheSecondWaitsForTheLock(t *testing.T) {
	for sentence, whileWaiting := range map[string]func(dir string) error{
		"the first releases it":                  func(string) error { return nil },
		"the first has removed the whole folder": os.RemoveAll, // as `down --purge` does
	} {
		t.Run(sentence, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			release, err := Lock(t.Context(), dir, func(string) { t.Error("the first one waits") })
			if err != nil {
				t.Fatal(err)
			}
			second, err := Lock(t.Context(), dir, func(holder string) {
				if !strings.Contains(holder, "pid") {
					t.Errorf("holder: %q", holder)
				}
				if err := whileWaiting(dir); err != nil {
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
		})
	}
}

func TestWaitingForALockEndsWithTheContext(t *testing.T) {
	dir := t.TempDir()
	release, err := Lock(t.Context(), dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := Lock(ctx, dir, func(string) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
