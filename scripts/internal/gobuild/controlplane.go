package gobuild

// The control plane: a whole cluster and kubectl in one program, from the module in
// scripts/controlplane. Package cluster runs it.

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"example.com/operators/scripts/internal/process"
)

// ControlPlaneFile is the name of the program in a folder Bin.
const ControlPlaneFile = "controlplane"

const stampFile = "." + ControlPlaneFile + ".stamp"

// links are the names by which others call the control plane. The first two are for envtest.
func links() []string { return []string{"etcd", "kube-apiserver", "kubectl", "etcdctl"} }

// ControlPlaneFiles are all of its files in the folder Bin. With its stamp, which matches go.mod,
// `up` knows that there is nothing to build.
func ControlPlaneFiles() []string { return append(links(), ControlPlaneFile, stampFile) }

type ControlPlane struct {
	State  string // .workshop, whose lock is held during a build
	Module string // the folder whose go.mod pins everything
	Bin    string // where the program and its stamp go
}

func NewControlPlane(root string) *ControlPlane {
	state := filepath.Join(root, ".workshop")
	return &ControlPlane{
		State:  state,
		Module: filepath.Join(root, "scripts", "controlplane"),
		Bin:    filepath.Join(state, "bin"),
	}
}

// IsBuilt reports whether the program is there, and was built from the present go.mod and main.go.
func (c *ControlPlane) IsBuilt() (bool, error) {
	want, err := c.stamp()
	if err != nil {
		return false, err
	}
	got, err := os.ReadFile(filepath.Join(c.Bin, stampFile))
	if err != nil || string(got) != want {
		return false, nil
	}
	_, err = os.Stat(filepath.Join(c.Bin, ControlPlaneFile))
	return err == nil, nil
}

// stamp returns a hash of the program's source.
func (c *ControlPlane) stamp() (string, error) {
	hash := sha256.New()
	for _, name := range []string{"go.mod", "main.go"} {
		data, err := os.ReadFile(filepath.Join(c.Module, name))
		if err != nil {
			return "", fmt.Errorf("read the source of the control plane: %w", err)
		}
		hash.Write(data)
	}
	return fmt.Sprintf("%x", hash.Sum(nil)), nil
}

// Build builds the program unless it is up to date. It calls waiting if another command builds at
// the moment. A build that was cancelled continues at the next call, from what is in Go's cache.
func (c *ControlPlane) Build(ctx context.Context, waiting func(holder string), progress func(Progress)) (err error) {
	release, err := process.Lock(ctx, c.State, waiting)
	if err != nil {
		return err
	}
	defer release()
	if built, err := c.IsBuilt(); err != nil || built { // another command may have built it meanwhile
		return err
	}
	flags, err := c.linkerFlags(ctx)
	if err != nil {
		return err
	}
	// go's temporary files need about a gigabyte, which /tmp may not have.
	temporary := filepath.Join(c.Bin, ".new")
	if err := errors.Join(os.RemoveAll(temporary), os.MkdirAll(temporary, 0o700)); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temporary)) }()
	err = Build{
		What:     "the control plane",
		Dir:      c.Module,
		Args:     []string{"-ldflags", flags, "-o", filepath.Join(c.Bin, ControlPlaneFile), "."},
		Env:      []string{"GOTMPDIR=" + temporary},
		Progress: progress,
	}.Run(ctx)
	if err != nil {
		return err
	}
	for _, name := range links() {
		link := filepath.Join(c.Bin, name)
		if err := errors.Join(os.RemoveAll(link), os.Symlink(ControlPlaneFile, link)); err != nil {
			return err
		}
	}
	stamp, err := c.stamp()
	if err != nil {
		return err
	}
	// The stamp comes last, so the next build repeats one that was interrupted.
	return os.WriteFile(filepath.Join(c.Bin, stampFile), []byte(stamp), 0o600)
}

// BuildKubectl builds just kubectl, unless there is one, for kind, whose node image has the rest.
func (c *ControlPlane) BuildKubectl(ctx context.Context, progress func(Progress)) error {
	kubectl := filepath.Join(c.Bin, "kubectl")
	if _, err := os.Stat(kubectl); err == nil {
		return nil
	}
	flags, err := c.linkerFlags(ctx)
	if err != nil {
		return err
	}
	args := []string{"-ldflags", flags, "-o", kubectl, "k8s.io/kubernetes/cmd/kubectl"}
	return Build{What: "kubectl", Dir: c.Module, Args: args, Progress: progress}.Run(ctx)
}

// linkerFlags turn off debug information, and set the version of Kubernetes that go.mod pins.
// Without it, kubectl and the API server report v0.0.0-master.
func (c *ControlPlane) linkerFlags(ctx context.Context) (string, error) {
	module := Build{Dir: c.Module}.command(ctx, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes")
	output, err := module.Output()
	if err != nil {
		return "", fmt.Errorf("the version of k8s.io/kubernetes in %s: %w", c.Module, err)
	}
	version := strings.TrimSpace(string(output))
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	const at = " -X k8s.io/component-base/version."
	return "-s -w" + at + "gitVersion=" + version + at + "gitMajor=" + major + at + "gitMinor=" + minor, nil
}
