// Package doctor finds problems of this machine, and says how to fix them. It changes nothing.
package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/shirou/gopsutil/v4/mem"
	"golang.org/x/mod/modfile"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/controlplane"
	"example.com/operators/scripts/internal/pack"
)

type State int

const (
	OK State = iota
	Warn
	Bad
)

func (s State) Mark() string { return [...]string{"✓", "!", "✗"}[s] }

type Finding struct {
	State State
	What  string // one sentence
	Fix   string // "" if there is nothing to fix
}

func ok(what string) Finding        { return Finding{OK, what, ""} }
func warn(what, fix string) Finding { return Finding{Warn, what, fix} }
func bad(what, fix string) Finding  { return Finding{Bad, what, fix} }

func Examine(ctx context.Context, root string, c *cluster.Cluster) (findings []Finding) {
	m := observe(ctx, root, c)
	for _, check := range checks() {
		findings = append(findings, check(m))
	}
	return findings
}

// checks lists all checks, for the most common problems first.
func checks() []func(machine) Finding {
	return []func(machine) Finding{
		checkGo,
		checkTool("git", "diffs between your work and the course's can't be shown"),
		checkTool("make", "chapters 06 and 07 and their tests need it"),
		checkKubectl, checkCompiler,
		checkFolder, checkPath, checkDisk, checkMemory,
		checkFlags, checkProxy, checkWorkspace, checkHTTPProxy,
		checkPorts, checkStrays, checkClock,
	}
}

type machine struct {
	root        string
	goEnv       map[string]string // `go env` in the root; nil: go can't be run
	goError     string            // why not
	goNeeded    string            // scripts/go.mod's go line
	kubectl     string            // the version of the kubectl in PATH, in JSON
	env         func(string) string
	has         func(program string) bool
	writable    error  // of .workshop
	built       bool   // the control plane is
	unpacked    bool   // the repository is, from an archive
	clusterUp   bool   // all of it runs
	disks       error  // too little free space
	memory      uint64 // available, bytes
	ports       error
	strays      []int // pids
	now         time.Time
	clusterMade time.Time // zero: there is none
}

func observe(ctx context.Context, root string, c *cluster.Cluster) machine {
	m := machine{
		root:     root,
		env:      os.Getenv,
		has:      func(program string) bool { _, err := exec.LookPath(program); return err == nil },
		writable: tryWriting(filepath.Join(root, ".workshop")),
		ports:    c.CheckPorts(ctx),
		now:      time.Now(),
	}
	m.strays, _ = c.Strays(ctx)
	m.readGoEnv(ctx)
	m.readKubectlVersion(ctx)
	m.built, _ = controlplane.New(root).IsBuilt(controlplane.ControlPlane)
	m.unpacked = pack.Unpacked(root)
	m.disks = controlplane.CheckFree(root, controlplane.NeededForBinary, "for the control plane and the cluster's data", controlplane.Elsewhere)
	if m.disks == nil && !m.built {
		m.disks = controlplane.CheckFree(m.goEnv["GOCACHE"], controlplane.NeededForCache, "to build the control plane", controlplane.Elsewhere)
	}
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.memory = memory.Available
	}
	if info, err := os.Stat(c.Kubeconfig()); err == nil {
		m.clusterMade = info.ModTime()
	}
	if status, err := c.Status(ctx); err == nil {
		m.clusterUp = status.Ready
	}
	return m
}

// readGoEnv runs the go command in PATH, and doesn't let it download another one.
func (m *machine) readGoEnv(ctx context.Context) {
	data, _ := os.ReadFile(filepath.Join(m.root, "scripts", "go.mod"))
	if file, err := modfile.ParseLax("go.mod", data, nil); err == nil && file.Go != nil {
		m.goNeeded = file.Go.Version
	}
	cmd := exec.CommandContext(ctx, "go", "env", "-json")
	cmd.Dir = m.root
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local")
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, &m.goEnv)
	}
	if err != nil {
		m.goEnv, m.goError = nil, err.Error()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			m.goError = strings.TrimSpace(string(exit.Stderr))
		}
	}
}

func (m *machine) readKubectlVersion(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, "kubectl", "version", "--client", "--output=json").Output() // checkKubectl reports missing output
	m.kubectl = string(out)
}

func tryWriting(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "doctor")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}
