package cluster

// Creating, starting and joining a cluster. kwokctl's HOME is the cluster's folder, so that it
// leaves ~/.kwok and ~/.kube alone, and its PATH has our kubectl, because it would download one
// otherwise.

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// create replaces any unfinished cluster. If it fails, it ends all processes and keeps the logs.
func (c *Cluster) create(ctx context.Context, running map[string]program) (err error) {
	if err := end(ctx, maps.Values(running)); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(c.dir), os.MkdirAll(c.dir, 0o700)); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx := context.WithoutCancel(ctx)
			running, _ := c.running(ctx)
			err = errors.Join(err, end(ctx, maps.Values(running)))
		}
	}()
	config, policy, err := c.writeConfig()
	if err != nil {
		return err
	}
	err = c.whileAlive(ctx, func(ctx context.Context) error {
		if err := c.kwokctl(ctx, "create", "cluster", "--config", config, "--runtime", "binary",
			"--etcd-binary", filepath.Join(c.bin, "etcd"),
			"--kube-apiserver-binary", filepath.Join(c.bin, "kube-apiserver"),
			"--kube-controller-manager-binary", filepath.Join(c.bin, "kube-controller-manager"),
			"--kube-scheduler-binary", filepath.Join(c.bin, "kube-scheduler"),
			"--kwok-controller-binary", filepath.Join(c.bin, "kwok"),
			"--kube-audit-policy", policy,
			// With leases, an ended kwok would hold its nodes for minutes.
			"--node-lease-duration-seconds", "0",
			"--kubeconfig", ""); err != nil { // none to add to: see ensureKubeconfig
			return err
		}
		return c.waitReady(ctx)
	})
	return c.startAgain(ctx, err)
}

func (c *Cluster) start(ctx context.Context, running map[string]program, components []component) error {
	isReplaced := func(p program) bool { return p.replaced }
	if slices.ContainsFunc(slices.Collect(maps.Values(running)), isReplaced) { // restart all: their versions match
		if err := end(ctx, maps.Values(running)); err != nil {
			return err
		}
		running = nil
	}
	if err := c.checkPorts(ctx, components, running); err != nil {
		return err
	}
	return c.startAgain(ctx, c.startOnce(ctx, running))
}

func (c *Cluster) startOnce(ctx context.Context, running map[string]program) error {
	if err := c.writePIDFiles(running); err != nil {
		return err
	}
	return c.whileAlive(ctx, func(ctx context.Context) error {
		if err := c.kwokctl(ctx, "start", "cluster"); err != nil {
			return err
		}
		return c.waitReady(ctx)
	})
}

// join waits for a cluster whose components all run already.
func (c *Cluster) join(ctx context.Context, running map[string]program) error {
	if err := c.writePIDFiles(running); err != nil {
		return err
	}
	return c.whileAlive(ctx, c.waitReady)
}

// startAgain restarts a controller that has exited because the API server was slow to start.
func (c *Cluster) startAgain(ctx context.Context, err error) error {
	for range 2 {
		var ended *endedError
		if ctx.Err() != nil || !errors.As(err, &ended) || ended.component == "etcd" || ended.component == "kube-apiserver" {
			return err
		}
		running, err2 := c.running(ctx)
		if err2 != nil {
			return err2
		}
		err = c.startOnce(ctx, running)
	}
	return err
}

func (c *Cluster) kwokctl(ctx context.Context, args ...string) error {
	log, err := os.OpenFile(c.kwokLog(), os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	before, err := log.Stat()
	if err != nil {
		return err
	}
	cmd := process.NewCommand(ctx, time.Second, filepath.Join(c.bin, "kwokctl"), append([]string{"--name", c.name}, args...)...)
	cmd.Dir = c.dir
	// The cluster's programs inherit this. Less garbage collection saves 10 to 20 % of a busy API
	// server's CPU time, and the limit bounds its memory.
	cmd.Env = []string{"HOME=" + c.dir, "PATH=" + c.bin, "GOGC=300", "GOMEMLIMIT=1GiB"}
	cmd.Stdout, cmd.Stderr = log, log
	err = cmd.Run()
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	output := make([]byte, 64<<10)
	n, _ := log.ReadAt(output, before.Size())
	return c.kwokctlProblem(args, string(output[:n]), err)
}

func (c *Cluster) kwokctlProblem(args []string, output string, err error) error {
	if last := lastError(output); last != "" {
		err = errors.New(last)
	}
	p := problem.New("kwokctl couldn't %s %s %q", args[0], args[1], c.name).
		ToDo(`look at the log; "./scripts/workshop down --purge" starts over`).
		SeeLog(c.kwokLog()).
		Because(err)
	p.Explain(problem.OnMachine(), output)
	return p
}

// lastError returns the last error in kwokctl's log, which is JSON.
func lastError(log string) string {
	for _, text := range slices.Backward(strings.Split(log, "\n")) {
		var line struct{ Level, Msg, Err string }
		if json.Unmarshal([]byte(text), &line) == nil && line.Level == "ERROR" {
			return cmp.Or(line.Err, line.Msg)
		}
	}
	return ""
}
