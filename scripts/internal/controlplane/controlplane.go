// Package controlplane builds a whole cluster and kubectl, in one program, from the module in
// scripts/controlplane. Package cluster runs it.
package controlplane

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"

	"example.com/operators/scripts/internal/problem"
)

// Program is what the module builds.
type Program struct {
	Name    string // of the file
	Package string // what it is built from
}

// ControlPlane is a whole cluster and kubectl in one program. Kubectl is just that, for kind, whose
// node image has a control plane.
var (
	ControlPlane = Program{"controlplane", "."}
	Kubectl      = Program{"kubectl", "k8s.io/kubernetes/cmd/kubectl"}
)

// Links are the names by which others call ControlPlane. The first two are for envtest.
func Links() []string { return []string{"etcd", "kube-apiserver", Kubectl.Name} }

// Files are what ControlPlane consists of in the folder Bin. With its stamp, which matches go.mod,
// `up` knows that there is nothing to build.
func Files() []string { return append(Links(), ControlPlane.Name, "."+ControlPlane.Name+".stamp") }

func (p Program) String() string {
	if p == ControlPlane {
		return "the control plane"
	}
	return p.Name
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
	Bin    string // where the programs and their stamps go
	Log    string // go's output during the last build
	// Platform is the programs' platform. Stamps don't contain it, so each platform has its own Bin.
	Platform Platform
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

// IsBuilt reports whether the program is there, and was built from the present go.mod and main.go.
func (b *Builder) IsBuilt(p Program) (bool, error) {
	want, err := b.Stamp()
	if err != nil {
		return false, err
	}
	got, err := os.ReadFile(b.stampFile(p))
	return err == nil && string(got) == want && isFile(b.binary(p)), nil
}

// Stamp returns the content of the stamps of current programs, a hash.
func (b *Builder) Stamp() (string, error) {
	flags, err := b.linkerFlags()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range []string{"go.mod", "main.go"} {
		data, err := os.ReadFile(filepath.Join(b.Module, name))
		if err != nil {
			return "", fmt.Errorf("read the source of the control plane: %w", err)
		}
		hash.Write(data)
	}
	hash.Write([]byte(flags))
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

func (b *Builder) binary(p Program) string    { return filepath.Join(b.Bin, p.Name) }
func (b *Builder) stampFile(p Program) string { return filepath.Join(b.Bin, "."+p.Name+".stamp") }

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

const gib = 1 << 30

// The disk space for a first build, in bytes (3.4 GiB of cache, 0.6 of programs), in Go's build
// cache and in .workshop, with some room for a cluster. If both are on one disk, the first number
// is enough.
const (
	NeededForCache  = 5 * gib
	NeededForBinary = 1 * gib
)

func (b *Builder) checkDisk(ctx context.Context, p Program) error {
	cache, err := exec.CommandContext(ctx, "go", "env", "GOCACHE").Output()
	if err != nil {
		return fmt.Errorf("go env GOCACHE: %w", err)
	}
	needed := uint64(NeededForCache)
	if p == Kubectl {
		needed = NeededForBinary // most packages are shared, and compiled already
	}
	return errors.Join(
		CheckFree(strings.TrimSpace(string(cache)), needed, "to build "+p.String(), Elsewhere),
		CheckFree(b.Bin, NeededForBinary, "for "+p.String(), Elsewhere),
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
