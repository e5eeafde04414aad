// The program itself, in a process of its own. It is this test's binary, which TestMain turns into
// the controller. So these tests check its flags, signals and exit codes, too. They mostly wait, so
// they run in parallel.

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// runAsController is the environment variable that makes this binary the controller.
const runAsController = "TEST_RUN_AS_CONTROLLER"

// If a replica loses the lease, it exits with an error. The contract has a test for the second
// replica, which waits and takes over (F7).
func TestALostLeaseEndsTheProgram(t *testing.T) {
	t.Parallel()
	c := newBareCluster(t)
	leader := c.startProgram("--leader-elect")
	c.create(example)
	c.eventually("the Foo is reconciled", c.hasReason("Progressing"))

	c.takeLease("somebody")

	if code := leader.wait(); code != 1 {
		t.Errorf("the exit code is %d, want 1", code)
	}
	if !strings.Contains(leader.output.String(), "05-controller-runtime: leader election lost") {
		t.Errorf("the output doesn't say why it exited:\n%s", leader.output.String())
	}
}

// Without an answer from the server, no index can be added, so the program exits. It also exits if
// the CRD is missing, but the contract has a test for that (B10).
func TestTheServerIsDown(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "kubeconfig")
	must(t, os.WriteFile(path, []byte(strings.Replace(emptyCluster, "127.0.0.1:6443", freeAddress(t), 1)), 0o600))
	c := &realCluster{kubeconfig: path, namespace: "default", t: t}

	p := c.startProgram()

	if code := p.wait(); code != 1 || !strings.Contains(p.output.String(), "05-controller-runtime: indexes (is the CRD applied?): ") {
		t.Errorf("the exit code is %d, want 1, and a reason:\n%s", code, p.output.String())
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
	flags = append([]string{"--kubeconfig", c.kubeconfig, "--namespace", c.namespace, "--leader-election-namespace", c.namespace}, flags...)
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

// wait waits until the program exits, and returns its exit code.
func (p *program) wait() int {
	p.t.Helper()
	timeout := time.AfterFunc(30*time.Second, func() { p.command.Process.Kill() })
	defer timeout.Stop()
	_ = p.command.Wait() // the exit code shows the error
	return p.command.ProcessState.ExitCode()
}

// takeLease makes holder the holder of the Lease.
func (c *realCluster) takeLease(holder string) {
	c.t.Helper()
	now := metav1.NowMicro().UTC().Format(metav1.RFC3339Micro)
	c.patch(&coordinationv1.Lease{}, "foo-controller", fmt.Sprintf(`{"spec":{"holderIdentity":%q,"renewTime":%q}}`, holder, now))
}

// freeAddress returns a loopback address on which nothing listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}
