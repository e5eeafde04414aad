// Package controlplane builds a cluster's programs, from etcd to kubectl, from the module in
// scripts/controlplane. Package cluster runs them.
package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"

	"example.com/operators/scripts/internal/gobuild"
	"example.com/operators/scripts/internal/problem"
)

type Component struct {
	Name    string // of the binary
	Package string // what it is built from
}

// output is the binary's name from go build: the package's last element without a major version.
func (c Component) output() string {
	if c.Name == "etcd" {
		return "server"
	}
	return c.Name
}

func Components() []Component {
	return []Component{
		{"etcd", "go.etcd.io/etcd/server/v3"},
		{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
		{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
		{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
		{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
		{"kwok", "sigs.k8s.io/kwok/cmd/kwok"},
		{"kwokctl", "sigs.k8s.io/kwok/cmd/kwokctl"},
	}
}

// Platform is an operating system and architecture, such as linux and arm64. The zero Platform is
// this machine's.
type Platform struct {
	OS, Arch string
}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

func (p Platform) Environment() []string {
	if p == (Platform{}) {
		return nil
	}
	return []string{"GOOS=" + p.OS, "GOARCH=" + p.Arch}
}

type Builder struct {
	State  string // .workshop, whose lock is held during a build
	Module string // the folder whose go.mod pins everything
	Bin    string // where the binaries and their stamps go
	Log    string // go's output during the last build
	// Platform is the components' platform. Stamps don't contain it, so each platform has its own
	// Bin.
	Platform Platform
	// Only is the name of the only component needed, or "" for all.
	Only string
}

func New(root string) *Builder {
	state := filepath.Join(root, ".workshop")
	return &Builder{
		State:  state,
		Module: filepath.Join(root, "scripts", "controlplane"),
		Bin:    filepath.Join(state, "bin"),
		Log:    filepath.Join(state, "logs", "build.log"),
	}
}

// Missing returns the components that aren't built, or were built for another go.mod or with other
// flags.
func (b *Builder) Missing() ([]Component, error) {
	want, err := b.Stamp()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Components(), func(c Component) bool {
		return b.Only != "" && c.Name != b.Only || b.isBuilt(c, want)
	}), nil
}

// Stamp returns the content of the stamps of current binaries: a hash of go.mod and the build
// flags. A build writes the stamp last, so the next build repeats a component that was interrupted.
func (b *Builder) Stamp() (string, error) {
	data, err := os.ReadFile(filepath.Join(b.Module, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("read the control plane's go.mod: %w", err)
	}
	flags, err := b.linkerFlags()
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Append(data, gobuild.Environment(), compilerFlags, flags))), nil
}

func (b *Builder) binary(c Component) string    { return filepath.Join(b.Bin, c.Name) }
func (b *Builder) stampFile(c Component) string { return filepath.Join(b.Bin, "."+c.Name+".stamp") }

func (b *Builder) isBuilt(c Component, want string) bool {
	got, err := os.ReadFile(b.stampFile(c))
	return err == nil && string(got) == want && isFile(b.binary(c))
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// keep moves a new binary into place. A process that runs the old one isn't disturbed.
func (b *Builder) keep(c Component, built, stamp string) error {
	if err := os.Rename(built, b.binary(c)); err != nil {
		return err
	}
	return os.WriteFile(b.stampFile(c), []byte(stamp), 0o600)
}

const gib = 1 << 30

// The disk space for a first build, in bytes (3.4 GiB of cache, 0.6 of programs), in Go's build
// cache and in .workshop, with some room for a cluster. If both are on one disk, the first number
// is enough.
const (
	NeededForCache  = 5 * gib
	NeededForBinary = 1 * gib
)

func (b *Builder) checkDisk(ctx context.Context, missing int) error {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env GOCACHE: %w", err)
	}
	needed := uint64(NeededForCache)
	if missing < len(Components()) {
		needed = NeededForBinary // most packages are shared, and compiled already
	}
	return errors.Join(
		CheckFree(strings.TrimSpace(string(cache)), needed, "to build the control plane", Elsewhere),
		CheckFree(b.Bin, NeededForBinary, "for the control plane", Elsewhere),
	)
}

// Elsewhere is advice for moving a build to another disk.
const Elsewhere = "set GOCACHE to a folder on a disk that has more, or copy the repository to one"

// CheckFree returns an error with advice if the disk of dir has too little space left.
func CheckFree(dir string, needed uint64, purpose, alternative string) error {
	free, err := freeDisk(dir)
	if err != nil || free >= needed {
		return err
	}
	return problem.New("the disk of %s has %.1f GiB left, %.1f GiB are needed %s", dir, float64(free)/gib, float64(needed)/gib, purpose).
		ToDo("free some space, or %s", alternative)
}

// freeDisk returns the free bytes on the disk of dir, which need not exist yet.
func freeDisk(dir string) (uint64, error) {
	usage, err := disk.Usage(dir)
	if parent := filepath.Dir(dir); err != nil && parent != dir {
		return freeDisk(parent)
	}
	if err != nil {
		return 0, fmt.Errorf("looking for free space in %s: %w", dir, err)
	}
	return usage.Free, nil
}
