package controlplane

// A stamp beside each binary says which go.mod and flags it was built with. It is written last, so an interrupted build leaves
// either a finished component or one that is built again.

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"example.com/operators/scripts/internal/gobuild"
)

// stamp is the content that all stamps should have now.
func (b *Builder) stamp() (string, error) {
	data, err := os.ReadFile(filepath.Join(b.Module, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("reading what the control plane is built from: %w", err)
	}
	flags, err := b.linkerFlags()
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Append(data, gobuild.Environment(), compilerFlags, flags))
	return hex.EncodeToString(sum[:]), nil
}

func (b *Builder) binary(c Component) string    { return filepath.Join(b.Bin, c.Name) }
func (b *Builder) stampFile(c Component) string { return filepath.Join(b.Bin, "."+c.Name+".stamp") }

func (b *Builder) isBuilt(c Component, want string) bool {
	got, err := os.ReadFile(b.stampFile(c))
	if err != nil || string(got) != want {
		return false
	}
	return isFile(b.binary(c))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// keep puts a freshly built binary in its place. A process that runs the old one isn't disturbed.
func (b *Builder) keep(c Component, built, stamp string) error {
	if err := os.Rename(built, b.binary(c)); err != nil {
		return err
	}
	return os.WriteFile(b.stampFile(c), []byte(stamp), 0o600)
}
