// Package controlplane builds the programs that a cluster consists of, etcd to kubectl, from the module in
// scripts/controlplane. It leaves running them to package cluster.
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

// output is the name that go build gives the binary: the package's last element, but for a major version.
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

// Platform is what a program runs on, by Go's names, such as linux and arm64. The zero Platform is this machine.
type Platform struct {
	OS, Arch string
}

func (p Platform) String() string { return p.OS + "/" + p.Arch }

// Environment is what makes go build for the platform: nothing, for this machine.
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
	Log    string // everything that go said during the last build
	// Platform is what the components are for. A stamp doesn't tell: each platform has a Bin of its own.
	Platform Platform
	// Only is the name of the one component that is needed; "": all are.
	Only string
}

// New returns the builder for the repository at root.
func New(root string) *Builder {
	state := filepath.Join(root, ".workshop")
	return &Builder{
		State:  state,
		Module: filepath.Join(root, "scripts", "controlplane"),
		Bin:    filepath.Join(state, "bin"),
		Log:    filepath.Join(state, "logs", "build.log"),
	}
}

// Missing lists what isn't built yet, or was built for another go.mod or with other flags.
func (b *Builder) Missing() ([]Component, error) {
	want, err := b.Stamp()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(Components(), func(c Component) bool {
		return b.Only != "" && c.Name != b.Only || b.isBuilt(c, want)
	}), nil
}

// Stamp returns what the stamp beside each binary should contain: its go.mod and build flags. A
// build writes the stamp last, so the next build repeats a component that was interrupted.
func (b *Builder) Stamp() (string, error) {
	data, err := os.ReadFile(filepath.Join(b.Module, "go.mod"))
	if err != nil {
		return "", fmt.Errorf("reading what the control plane is built from: %w", err)
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

const gib = 1 << 30

// What a first build takes, in bytes (3.4 GiB of cache, 0.6 of programs), on the disk of Go's build cache and on that of
// .workshop, with some room for a cluster. Where both are one disk, the first number is enough.
const (
	NeededForCache  = 5 * gib
	NeededForBinary = 1 * gib
)

// checkDisk looks before the build whether it will fit: to fail after minutes would be worse.
func (b *Builder) checkDisk(ctx context.Context, missing int) error {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("asking go for its build cache: %w", err)
	}
	needed := uint64(NeededForCache)
	if missing < len(Components()) {
		needed = NeededForBinary // components share most packages: the bulk is compiled
	}
	return errors.Join(
		CheckFree(strings.TrimSpace(string(cache)), needed, "to build the control plane", Elsewhere),
		CheckFree(b.Bin, NeededForBinary, "for the control plane", Elsewhere),
	)
}

// Elsewhere is the advice to move a build to another disk.
const Elsewhere = "set GOCACHE to a folder on a disk that has more, or copy the repository to one"

// CheckFree returns an error if the disk of dir has too little left, and says what else to do.
func CheckFree(dir string, needed uint64, purpose, elsewhere string) error {
	free, err := freeDisk(dir)
	if err != nil || free >= needed {
		return err
	}
	return problem.New("the disk of %s has %.1f GiB left, %.1f GiB are needed %s", dir, float64(free)/gib, float64(needed)/gib, purpose).
		ToDo("free some space, or %s", elsewhere)
}

// freeDisk returns how many bytes are free below dir, which need not exist yet.
func freeDisk(dir string) (uint64, error) {
	for {
		usage, err := disk.Usage(dir)
		parent := filepath.Dir(dir)
		switch {
		case err == nil:
			return usage.Free, nil
		case parent == dir:
			return 0, fmt.Errorf("looking for free space in %s: %w", dir, err)
		}
		dir = parent
	}
}
