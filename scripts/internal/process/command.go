// Package process owns the processes that the workshop starts: it starts a command with all its children as one group, ends
// processes by an identity that no later process shares, and keeps a program running.
package process

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Command is a command that leads a process group of its own, so that Ctrl-C in a terminal reaches it through its context
// alone. When the context ends, the whole group gets SIGINT, and is killed if it doesn't end in a grace period.
type Command struct {
	*exec.Cmd
	killLater *time.Timer // once the context has ended
}

// NewCommand returns a command that isn't started yet.
func NewCommand(ctx context.Context, grace time.Duration, name string, args ...string) *Command {
	c := &Command{Cmd: exec.CommandContext(ctx, name, args...)}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.WaitDelay = grace
	c.Cancel = func() error {
		c.killLater = time.AfterFunc(grace, c.kill) // WaitDelay is about the command alone
		err := syscall.Kill(-c.Process.Pid, syscall.SIGINT)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
	return c
}

// kill kills the group. Mostly there is nothing left of it.
func (c *Command) kill() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// Wait waits until the command has ended, and kills what is left of its group.
func (c *Command) Wait() error {
	err := c.Cmd.Wait()
	if c.killLater != nil {
		c.killLater.Stop()
	}
	c.kill()
	return err
}

// Run starts the command and waits for it.
func (c *Command) Run() error {
	if err := c.Start(); err != nil {
		return err
	}
	return c.Wait()
}

// CombinedOutput runs the command and returns everything it printed.
func (c *Command) CombinedOutput() ([]byte, error) {
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	err := c.Run()
	return output.Bytes(), err
}
