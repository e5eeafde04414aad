package controlplane

import (
	"os"
	"path/filepath"
	"testing"
)

// built returns a builder whose programs are built, as far as the stamps say.
func built(t *testing.T) *Builder {
	t.Helper()
	b := New(t.TempDir())
	write(t, filepath.Join(b.Module, "go.mod"), "module a\nrequire k8s.io/kubernetes v1.37.2\n")
	write(t, filepath.Join(b.Module, "main.go"), "package main\n")
	stamp, err := b.Stamp()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Program{ControlPlane, Kubectl} {
		write(t, b.binary(p), "a program")
		write(t, b.stampFile(p), stamp)
	}
	return b
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIsBuilt(t *testing.T) {
	for sentence, test := range map[string]struct {
		change                func(t *testing.T, b *Builder)
		controlPlane, kubectl bool
	}{
		"nothing has changed": {func(*testing.T, *Builder) {}, true, true},
		"go.mod has another version": {func(t *testing.T, b *Builder) {
			write(t, filepath.Join(b.Module, "go.mod"), "module a\nrequire k8s.io/kubernetes v1.37.3\n")
		}, false, false},
		"main.go has changed": {func(t *testing.T, b *Builder) {
			write(t, filepath.Join(b.Module, "main.go"), "package main // changed\n")
		}, false, false},
		"a program was removed":      {func(t *testing.T, b *Builder) { remove(t, b.binary(Kubectl)) }, true, false},
		"a program without a stamp":  {func(t *testing.T, b *Builder) { remove(t, b.stampFile(ControlPlane)) }, false, true},
		"a stamp that was cut short": {func(t *testing.T, b *Builder) { write(t, b.stampFile(ControlPlane), "") }, false, true},
	} {
		t.Run(sentence, func(t *testing.T) {
			b := built(t)
			test.change(t, b)
			for p, want := range map[Program]bool{ControlPlane: test.controlPlane, Kubectl: test.kubectl} {
				if is, err := b.IsBuilt(p); is != want || err != nil {
					t.Errorf("%s is built: %v, %v", p, is, err)
				}
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
