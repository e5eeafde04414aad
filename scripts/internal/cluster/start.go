package cluster

// Starting the components, which keep running when this program exits.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
)

// create replaces any unfinished cluster. If it fails, it ends all processes and keeps the logs.
func (c *Cluster) create(ctx context.Context, running map[string]program, progress func(doing string)) (err error) {
	progress("creating the cluster")
	if err := end(ctx, maps.Values(running)); err != nil {
		return err
	}
	if err := errors.Join(os.RemoveAll(c.dir), os.MkdirAll(c.dir, 0o700), c.writeFiles()); err != nil {
		return err
	}
	components, err := c.components()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			ctx := context.WithoutCancel(ctx)
			running, _ := c.running(ctx)
			err = errors.Join(err, end(ctx, maps.Values(running)))
		}
	}()
	if err := c.startMissing(ctx, nil, components); err != nil {
		return err
	}
	progress("waiting for the nodes")
	if err := c.createNodes(ctx); err != nil {
		return err
	}
	return os.WriteFile(c.madeFile(), []byte(c.dir), 0o600)
}

// startMissing starts the components that don't run, and waits until the cluster is ready. The API
// server waits for etcd by itself. The others would give up after some seconds, so they start when
// the API server is ready. If a component ends meanwhile, that is the error.
func (c *Cluster) startMissing(ctx context.Context, running map[string]program, components []component) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	for _, component := range components {
		if _, runs := running[component.name]; runs {
			continue
		}
		if component.name != "etcd" && component.name != "kube-apiserver" {
			if err := c.wait(ctx, "kube-apiserver", IsServing); err != nil {
				return cmp.Or(context.Cause(ctx), err)
			}
		}
		command, err := c.launch(component)
		if err != nil {
			return err
		}
		go func() { // also collects what is left of the process
			_ = command.Wait()
			fail(c.ended(component.name))
		}()
	}
	if err := c.wait(ctx, "kube-apiserver", isUsable); err != nil {
		return cmp.Or(context.Cause(ctx), err)
	}
	return nil
}

// command is the control plane's program as that component. Its environment is what it needs, and
// nothing of the user's. Less garbage collection saves 10 to 20 % of a busy API server's CPU time,
// and the limit bounds its memory.
func (c *Cluster) command(component string, args ...string) *exec.Cmd {
	command := exec.Command(executable(c.state), args...)
	command.Args[0] = filepath.Join(c.dir, component) // see identify
	command.Dir = c.dir
	command.Env = []string{"HOME=" + c.dir, "GOGC=300", "GOMEMLIMIT=1GiB"}
	return command
}

func (c *Cluster) launch(component component) (*exec.Cmd, error) {
	log, err := os.OpenFile(c.ComponentLog(component.name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	command := c.command(component.name, component.args...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // Ctrl-C in the terminal doesn't reach it
	return command, command.Start()
}

// ended is the error if a component has ended while the cluster started. It quotes the end of its
// log.
func (c *Cluster) ended(component string) error {
	log, _ := os.ReadFile(c.ComponentLog(component))
	last := strings.TrimSpace(process.Tail(string(log), 5))
	p := problem.New("%s of cluster %q ended while the cluster started", component, c.name).
		ToDo(`look at the log; "./scripts/workshop up" tries again, "./scripts/workshop down --purge" starts over`).
		SeeLog(c.ComponentLog(component)).
		Because(fmt.Errorf("its log ends with:\n%s", last))
	p.Explain(problem.OnMachine(), last)
	return p
}
