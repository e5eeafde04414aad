package main

// workshop doctor finds problems of this machine, and says how to fix them. It changes nothing.

import (
	"context"
	"encoding/json"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"
	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/ui"
)

func newDoctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Find what on this machine will get in the way, and how to fix it",
		Long: `Doctor checks what the workshop depends on: Go, tools, disk and memory. It changes nothing, and tells you
what will get in the way and how to fix it. Its exit code is 1 if it finds a problem; a warning ("!") can wait.`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			m := observe(command.Context(), theRoot())
			problems := 0
			for _, check := range machineChecks() {
				found := check(m)
				command.Println(ui.Wrap(found.mark + " " + found.what))
				if found.fix != "" {
					command.Println(ui.Wrap("  " + found.fix))
				}
				if found.mark == markBad {
					problems++
				}
			}
			if problems > 0 {
				command.Printf("\n%d to fix.\n", problems)
				return problem.ErrReported
			}
			return nil
		},
	}
}

const gib = 1 << 30

const (
	markOK   = "✓"
	markWarn = "!"
	markBad  = "✗"
)

type finding struct {
	mark string
	what string // one sentence
	fix  string // "" if there is nothing to fix
}

func ok(what string) finding        { return finding{markOK, what, ""} }
func warn(what, fix string) finding { return finding{markWarn, what, fix} }
func bad(what, fix string) finding  { return finding{markBad, what, fix} }

// machine is what doctor observes.
type machine struct {
	goEnv    map[string]string // `go env` in the root; nil: go can't be run
	goNeeded string            // the go line of scripts/controlplane/go.mod
	ours     string            // the cluster's kubeconfig
	env      func(string) string
	has      func(program string) bool
	built    bool // the control plane is
	fullDisk error
	memory   uint64 // available, bytes
}

func observe(ctx context.Context, root string) machine {
	m := machine{
		env:  os.Getenv,
		has:  func(program string) bool { _, err := exec.LookPath(program); return err == nil },
		ours: theCluster().Kubeconfig(),
	}
	m.goNeeded = goVersion(filepath.Join(root, "scripts", "controlplane", "go.mod"))
	goEnv := exec.CommandContext(ctx, "go", "env", "-json")
	goEnv.Dir = root
	goEnv.Env = append(os.Environ(), "GOTOOLCHAIN=local") // don't download another one
	output, _ := goEnv.Output()
	_ = json.Unmarshal(output, &m.goEnv) // it stays nil without output
	m.built, _ = theControlPlane().IsBuilt()
	m.fullDisk = checkFree(root, neededInWorkshop, "for the control plane and the cluster's data")
	if m.fullDisk == nil && !m.built && m.goEnv != nil {
		m.fullDisk = checkFree(m.goEnv["GOCACHE"], neededInCache, "to build the control plane")
	}
	if memory, err := mem.VirtualMemoryWithContext(ctx); err == nil {
		m.memory = memory.Available
	}
	return m
}

// The disk space for a first build, in bytes: 3.4 GiB in Go's cache and 0.6 in .workshop, and a
// reserve for a cluster.
const (
	neededInCache    = 5 * gib
	neededInWorkshop = 1 * gib
)

// checkFree returns an error if the disk of dir has too little space left.
func checkFree(dir string, needed uint64, purpose string) error {
	usage, err := disk.Usage(dir)
	if err != nil || usage.Free >= needed {
		return err
	}
	left, need := float64(usage.Free)/gib, float64(needed)/gib
	return fmt.Errorf("the disk of %s has %.1f GiB left, %.1f GiB are needed %s", dir, left, need, purpose)
}

// goVersion returns the version of Go that a go.mod asks for.
func goVersion(path string) string {
	content, _ := os.ReadFile(path)
	file, err := modfile.ParseLax(path, content, nil)
	if err != nil || file.Go == nil {
		return ""
	}
	return file.Go.Version
}

// machineChecks lists all checks, for the most common problems first.
func machineChecks() []func(machine) finding {
	return []func(machine) finding{
		checkGo,
		needsTool("git", "diffs between your work and the course's can't be shown"),
		needsTool("make", "chapters 06 and 07 and their tests need it"),
		checkKubeconfig, checkDisk, checkMemory,
	}
}

func checkGo(m machine) finding {
	const fix = "install it from https://go.dev/dl/"
	switch got := m.goEnv["GOVERSION"]; {
	case m.goEnv == nil:
		return bad("the go command isn't in PATH, or it fails: see what \"go env\" reports", fix)
	case strings.Contains(m.goEnv["GOFLAGS"], "-mod=vendor"):
		return bad("GOFLAGS has -mod=vendor, but the course doesn't vendor its modules", "unset GOFLAGS; go env -u GOFLAGS")
	case version.Compare(got, "go"+m.goNeeded) >= 0:
		return ok(fmt.Sprintf("Go is %s (%s or newer is needed)", got, m.goNeeded))
	case m.env("GOTOOLCHAIN") == "local" || m.goEnv["GOPROXY"] == "off":
		return bad(fmt.Sprintf("Go is %s, but %s is needed, and Go isn't allowed to download it", got, m.goNeeded), fix)
	default:
		return warn(fmt.Sprintf("Go is %s, and will download %s, which is needed", got, m.goNeeded),
			"without a network: "+fix)
	}
}

// needsTool checks for a program that only a part of the course needs.
func needsTool(name, without string) func(machine) finding {
	return func(m machine) finding {
		if m.has(name) {
			return ok(name + " is installed")
		}
		return warn(fmt.Sprintf("there is no %s command: %s", name, without), "install "+name)
	}
}

// checkKubeconfig finds out on which cluster kubectl and the chapters' programs act.
func checkKubeconfig(m machine) finding {
	const fix = "in each terminal:\n    eval \"$(./scripts/workshop env)\""
	const act = ", so kubectl and the chapters' programs "
	switch kubeconfig := m.env("KUBECONFIG"); kubeconfig {
	case m.ours:
		return ok("KUBECONFIG is the workshop's")
	case "":
		return warn("KUBECONFIG isn't set"+act+"act on the cluster in ~/.kube/config", fix)
	default:
		return warn("KUBECONFIG is "+kubeconfig+act+"don't act on the workshop's cluster", fix)
	}
}

func checkDisk(m machine) finding {
	if m.fullDisk != nil {
		return bad(m.fullDisk.Error(),
			"free some space, set GOCACHE to a folder on a disk that has more, or copy the repository to one")
	}
	return ok("there is enough free disk space")
}

func checkMemory(m machine) finding {
	what := fmt.Sprintf("%.1f GiB of memory are available", float64(m.memory)/gib)
	if m.memory >= 2*gib {
		return ok(what)
	}
	return warn(what+", 2 are recommended",
		"close other programs: a cluster takes 0.6 GiB, building the control plane up to 2 GiB")
}
