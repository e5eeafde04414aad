// The program itself: this test's own binary, which is the controller if it is told so (see
// TestMain). So flags are read, a signal ends it, and its exit code says how that went. These tests
// wait for others most of the time, so they do it together.

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

// beTheController is the environment variable that makes this binary the controller.
const beTheController = "TEST_BE_THE_CONTROLLER"

// Of two copies one works. When it is told to stop, it gives the lease back, and the other takes
// over at once. When the lease is lost to somebody else, it ends with an error.
func TestLeadership(t *testing.T) {
	t.Parallel()
	c := newBareCluster(t)
	first := c.startProgram("--leader-elect")
	c.eventually("the first copy leads", func(ctx context.Context) bool { return c.leader(ctx) != "" })
	was := c.leader(t.Context())
	second := c.startProgram("--leader-elect")
	c.create(example)
	c.eventually("the Foo is worked on", c.says("Progressing"))
	if got := c.leader(t.Context()); got != was {
		t.Errorf("%q leads, want the first copy, %q", got, was)
	}

	if code := first.stop(); code != 0 {
		t.Errorf("the first copy ended with the exit code %d, want 0", code)
	}
	c.change(`{"replicas":3}`)
	c.eventually("the other takes over", c.hasReplicas("web", 3))
	if got := c.leader(t.Context()); got == was || got == "" {
		t.Errorf("%q leads, want the second copy", got)
	}

	c.takeLease("somebody")
	if code := second.wait(); code != 1 {
		t.Errorf("the second copy ended with the exit code %d, want 1", code)
	}
	if !strings.Contains(second.said.String(), "05-controller-runtime: leader election lost") {
		t.Error("it didn't say why")
	}
	if got := c.leader(t.Context()); got != "somebody" {
		t.Errorf("%q leads: the lease that was lost isn't there to be given back", got)
	}
}

// The last copy that is told to stop leaves a lease that nobody holds.
func TestTheLeaseIsGivenBack(t *testing.T) {
	t.Parallel()
	c := newBareCluster(t)
	only := c.startProgram("--leader-elect")
	c.create(example)
	c.eventually("the Foo is worked on", c.says("Progressing"))

	code := only.stop()

	if leader := c.leader(t.Context()); code != 0 || leader != "" {
		t.Errorf("it ended with the exit code %d, and %q leads; want 0, and nobody", code, leader)
	}
}

// A program that waits for the CRD, because the server is away, can be stopped.
func TestStoppedWhileTheServerIsAway(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte(strings.Replace(emptyCluster, "127.0.0.1:6443", freeAddress(t), 1)), 0o600))
	c := &realCluster{kubeconfig: path, namespace: "default", t: t}
	waiting := c.startProgram()
	c.eventually("it logs what it waits for", func(context.Context) bool { return strings.Contains(waiting.said.String(), "is the CRD applied?") })

	if code := waiting.stop(); code != 0 {
		t.Errorf("it ended with the exit code %d, want 0", code)
	}
}

// program is a copy of the program, in a process of its own.
type program struct {
	command *exec.Cmd
	said    saidLog
	t       *testing.T
}

// startProgram starts one that acts on the test's namespace, until the test ends.
func (c *realCluster) startProgram(flags ...string) *program {
	c.t.Helper()
	flags = append([]string{
		"--kubeconfig", c.kubeconfig, "--namespace", c.namespace, "--leader-election-namespace", c.namespace,
		"--leader-election-renew-deadline=3s", "--leader-election-retry-period=200ms",
	}, flags...)
	p := &program{command: exec.Command(os.Args[0], flags...), t: c.t}
	p.command.Env = append(os.Environ(), beTheController+"=yes")
	p.command.Stdout, p.command.Stderr = &p.said, &p.said
	must(c.t, p.command.Start())
	c.t.Cleanup(func() {
		if p.command.ProcessState == nil {
			must(c.t, p.command.Process.Kill())
			p.wait()
		}
		if c.t.Failed() {
			c.t.Logf("the program said:\n%s", p.said.String())
		}
	})
	return p
}

// stop tells it to stop, and returns its exit code.
func (p *program) stop() int {
	p.t.Helper()
	must(p.t, p.command.Process.Signal(syscall.SIGTERM))
	return p.wait()
}

// wait returns its exit code once it has ended.
func (p *program) wait() int {
	p.t.Helper()
	tooLong := time.AfterFunc(30*time.Second, func() { p.command.Process.Kill() })
	defer tooLong.Stop()
	_ = p.command.Wait() // what went wrong is in the exit code
	return p.command.ProcessState.ExitCode()
}

// leader returns who holds the Lease, or "" if nobody does.
func (c *realCluster) leader(ctx context.Context) string {
	lease, err := c.lease(ctx)
	if err != nil {
		return ""
	}
	return ptr.Deref(lease.Spec.HolderIdentity, "")
}

// takeLease makes somebody else the holder.
func (c *realCluster) takeLease(holder string) {
	c.t.Helper()
	now := metav1.NowMicro().UTC().Format(metav1.RFC3339Micro)
	c.patch(&coordinationv1.Lease{}, "foo-controller", fmt.Sprintf(`{"spec":{"holderIdentity":%q,"renewTime":%q}}`, holder, now))
}

func (c *realCluster) lease(ctx context.Context) (*coordinationv1.Lease, error) {
	lease := &coordinationv1.Lease{}
	return lease, c.users.Get(ctx, client.ObjectKey{Namespace: c.namespace, Name: "foo-controller"}, lease)
}

// freeAddress returns a loopback address that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
