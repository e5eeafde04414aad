package suite

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/operators/scripts/internal/chapters"
	"example.com/operators/scripts/internal/contract"
	"example.com/operators/scripts/internal/lock"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// A run waits for another one. If it is interrupted meanwhile, it removes nothing of the other's.
func TestRunsWaitForOneAnother(t *testing.T) {
	for sentence, run := range map[string]func(*Suite, context.Context) error{
		"everything": func(s *Suite, ctx context.Context) error { _, err := s.Run(ctx); return err },
		"on kind":    func(s *Suite, ctx context.Context) error { _, err := s.OnKind(ctx, ""); return err },
		"the texts":  (*Suite).Texts,
		"some promises": func(s *Suite, ctx context.Context) error {
			wanted, err := contract.Find("B4")
			if err != nil {
				return err
			}
			_, err = s.Only(ctx, wanted, io.Discard, ui.NewPalette(false))
			return err
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Setenv("PATH", "") // one that doesn't wait finds neither go nor docker
			root := testkit.Write(t, t.TempDir(), map[string]string{
				".workshop/clusters/test/a": "", ".workshop/kind/test/a": "", ".workshop/reader/a": "",
			})
			release, err := lock.Acquire(t.Context(), filepath.Join(root, ".workshop", "tests"), nil)
			if err != nil {
				t.Fatal(err)
			}
			defer release()
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			s := &Suite{Root: root, UI: ui.New(os.Stderr), Chapters: []chapters.Chapter{{Name: "01-a"}}}
			if err := run(s, ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it doesn't wait: got error %v", err)
			}
			for _, file := range []string{"clusters/test/a", "kind/test/a", "reader/a"} {
				if _, err := os.Stat(filepath.Join(root, ".workshop", file)); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestTheNextRunBegins(t *testing.T) {
	s := &Suite{Root: t.TempDir(), UI: ui.New(os.Stderr)}
	for range 2 {
		end, err := s.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if end(&err); err != nil {
			t.Fatal(err)
		}
	}
}

// The commands in the texts run while their run holds its lock.
func TestAReadersRunDoesNotWait(t *testing.T) {
	s := &Suite{Root: t.TempDir(), UI: ui.New(os.Stderr)}
	reader := &Suite{Root: readersCopy(s.Root), UI: s.UI}
	if err := os.MkdirAll(reader.Root, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, run := range []*Suite{s, reader} {
		end, err := run.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer end(&err)
	}
}
