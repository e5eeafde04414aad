package controlplane

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
)

// built returns a builder all of whose components are built, as far as the stamps say.
func built(t *testing.T) *Builder {
	t.Helper()
	b := New(t.TempDir())
	for _, dir := range []string{b.Module, b.Bin} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(b.Module, "go.mod"), "module a\nrequire k8s.io/kubernetes v1.36.3\n")
	stamp, err := b.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Components() {
		built := filepath.Join(b.Bin, c.Name+".new")
		write(t, built, "a program")
		if err := b.keep(c, built, stamp); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestMissing(t *testing.T) {
	etcd := Components()[0]
	tests := map[string]struct {
		change func(t *testing.T, b *Builder)
		want   int
	}{
		"nothing, when all is built": {
			func(*testing.T, *Builder) {}, 0,
		},
		"everything, when go.mod has changed": {
			func(t *testing.T, b *Builder) {
				write(t, filepath.Join(b.Module, "go.mod"), "module a\nrequire k8s.io/kubernetes v1.36.4\n")
			}, len(Components()),
		},
		"a binary that was built with other flags": {
			func(t *testing.T, b *Builder) {
				content, err := os.ReadFile(filepath.Join(b.Module, "go.mod"))
				if err != nil {
					t.Fatal(err)
				}
				sum := sha256.Sum256(content) // the stamp without flags
				write(t, b.stampFile(etcd), hex.EncodeToString(sum[:]))
			}, 1,
		},
		"a binary that was removed": {
			func(t *testing.T, b *Builder) { remove(t, b.binary(etcd)) }, 1,
		},
		"a binary without a stamp": {
			func(t *testing.T, b *Builder) { remove(t, b.stampFile(etcd)) }, 1,
		},
		"a binary whose stamp was cut short": {
			func(t *testing.T, b *Builder) { write(t, b.stampFile(etcd), "") }, 1,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := built(t)
			test.change(t, b)
			missing, err := b.Missing()
			if err != nil {
				t.Fatal(err)
			}
			if len(missing) != test.want {
				t.Errorf("missing: %v, want %d", missing, test.want)
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}
