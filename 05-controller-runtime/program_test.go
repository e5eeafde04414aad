// The program itself, in a process of its own. It is this test's binary, which TestMain turns into
// the controller. So these tests check its flags, signals and exit codes, too. They mostly wait, so
// they run in parallel.

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// runAsController is the environment variable that makes this binary the controller.
const runAsController = "TEST_RUN_AS_CONTROLLER"

// Of two replicas, only the leader works. On shutdown, it releases the lease, and the other replica
// takes over at once. If a replica loses the lease, it exits with an error.
func TestLeadership(t *testing.T) {
	t.Parallel()
	c := newBareCluster(t)
	first := c.startProgram("--leader-elect")
	c.eventually("the first replica leads", func(ctx context.Context) bool { return c.leader(ctx) != "" })
	was := c.leader(t.Context())
	second := c.startProgram("--leader-elect")
	c.create(example)
	c.eventually("the Foo is reconciled", c.hasReason("Progressing"))
	if got := c.leader(t.Context()); got != was {
		t.Errorf("the leader is %q, want the first replica, %q", got, was)
	}

	if code := first.stop(); code != 0 {
		t.Errorf("the first replica's exit code is %d, want 0", code)
	}
	c.change(`{"replicas":3}`)
	c.eventually("the second replica scales the Deployment", c.hasReplicas("web", 3))
	if got := c.leader(t.Context()); got == was || got == "" {
		t.Errorf("the leader is %q, want the second replica", got)
	}

	c.takeLease("somebody")
	if code := second.wait(); code != 1 {
		t.Errorf("the second replica's exit code is %d, want 1", code)
	}
	if !strings.Contains(second.output.String(), "05-controller-runtime: leader election lost") {
		t.Errorf("the second replica's output doesn't say why it exited:\n%s", second.output.String())
	}
	if got := c.leader(t.Context()); got != "somebody" {
		t.Errorf("the leader is %q, want somebody: a replica must not release a lease that it has lost", got)
	}
}

// If the only replica shuts down, nobody holds the lease.
func TestLeaseIsReleased(t *testing.T) {
	t.Parallel()
	c := newBareCluster(t)
	only := c.startProgram("--leader-elect")
	c.create(example)
	c.eventually("the Foo is reconciled", c.hasReason("Progressing"))

	code := only.stop()

	if leader := c.leader(t.Context()); code != 0 || leader != "" {
		t.Errorf("the exit code is %d and the leader is %q, want 0 and none", code, leader)
	}
}

// If the server is down, the program waits for the CRD. It can still be stopped.
func TestStopWhileTheServerIsDown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte(strings.Replace(emptyCluster, "127.0.0.1:6443", freeAddress(t), 1)), 0o600))
	c := &realCluster{kubeconfig: path, namespace: "default", t: t}
	waiting := c.startProgram()
	c.eventually("the log says what the program waits for", func(context.Context) bool { return strings.Contains(waiting.output.String(), "is the CRD applied?") })

	if code := waiting.stop(); code != 0 {
		t.Errorf("the exit code is %d, want 0", code)
	}
}

// program is a replica of the program, in a process of its own.
type program struct {
	command *exec.Cmd
	output  logBuffer
	t       *testing.T
}

// startProgram starts a replica that acts on the test's namespace, until the test ends.
func (c *realCluster) startProgram(flags ...string) *program {
	c.t.Helper()
	flags = append([]string{
		"--kubeconfig", c.kubeconfig, "--namespace", c.namespace, "--leader-election-namespace", c.namespace,
		"--leader-election-renew-deadline=3s", "--leader-election-retry-period=200ms",
	}, flags...)
	p := &program{command: exec.Command(os.Args[0], flags...), t: c.t}
	p.command.Env = append(os.Environ(), runAsController+"=yes")
	p.command.Stdout, p.command.Stderr = &p.output, &p.output
	must(c.t, p.command.Start())
	c.t.Cleanup(func() {
		if p.command.ProcessState == nil {
			must(c.t, p.command.Process.Kill())
			p.wait()
		}
		if c.t.Failed() {
			c.t.Logf("the program's output:\n%s", p.output.String())
		}
	})
	return p
}

// stop sends SIGTERM, and returns the exit code.
func (p *program) stop() int {
	p.t.Helper()
	must(p.t, p.command.Process.Signal(syscall.SIGTERM))
	return p.wait()
}

// wait waits until the program exits, and returns its exit code.
func (p *program) wait() int {
	p.t.Helper()
	timeout := time.AfterFunc(30*time.Second, func() { p.command.Process.Kill() })
	defer timeout.Stop()
	_ = p.command.Wait() // the exit code shows the error
	return p.command.ProcessState.ExitCode()
}

// leader returns the holder of the Lease, or "" if there is none.
func (c *realCluster) leader(ctx context.Context) string {
	lease, err := c.lease(ctx)
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// takeLease makes holder the holder of the Lease.
func (c *realCluster) takeLease(holder string) {
	c.t.Helper()
	now := metav1.NowMicro().UTC().Format(metav1.RFC3339Micro)
	c.patch(&coordinationv1.Lease{}, "foo-controller", fmt.Sprintf(`{"spec":{"holderIdentity":%q,"renewTime":%q}}`, holder, now))
}

func (c *realCluster) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	return lease, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "foo-controller"}, lease)
}

// freeAddress returns a loopback address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
