// The program as a process: this test's own binary, which TestMain turns into the manager. So the
// tests cover flags, signals and exit codes.

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"

	"example.com/operators/07-tdset-operator/test/utils"
)

// runAsManager is the environment variable that makes this binary the manager.
const runAsManager = "TEST_RUN_AS_MANAGER"

// -h lists the flags. The time isn't one of them: a test that needs another time injects a clock, or
// gives a TDSet a time zone of its own.
func TestHelp(t *testing.T) {
	for sentence, test := range map[string]struct {
		arg      string
		wantCode int
		want     []string
	}{
		"help": {
			arg: "-h", wantCode: 0,
			want: []string{"Usage of ", "  -drain-timeout duration\n", "(default 1m0s)", "  -leader-elect\n", "  -zap-log-level value\n"},
		},
		"a flag that doesn't exist": {
			arg: "--now=2026-01-01T08:59:50Z", wantCode: 2,
			want: []string{"flag provided but not defined: -now\n", "  -drain-timeout duration\n"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			process := exec.Command(os.Args[0], test.arg)
			process.Env = append(os.Environ(), runAsManager+"=1")

			output, _ := process.CombinedOutput() // the exit code has the error

			if code := process.ProcessState.ExitCode(); code != test.wantCode {
				t.Errorf("the exit code is %d, want %d", code, test.wantCode)
			}
			for _, want := range test.want {
				if !strings.Contains(string(output), want) {
					t.Errorf("the output doesn't contain %q:\n%s", want, output)
				}
			}
		})
	}
}

// managerReplica is one manager process.
type managerReplica struct {
	process                  *exec.Cmd
	log                      utils.Log
	webhooks, probes, secure string // addresses
}

// startReplica starts the manager with those arguments, the certificate in the folder certs, and
// its own addresses.
func startReplica(t *testing.T, kubeconfig, certs string, args []string) *managerReplica {
	t.Helper()
	c := &managerReplica{webhooks: freeAddress(t), probes: freeAddress(t), secure: freeAddress(t)}
	c.process = exec.Command(os.Args[0])
	_, port, _ := net.SplitHostPort(c.webhooks)
	_, securePort, _ := net.SplitHostPort(c.secure)
	for _, arg := range args {
		c.process.Args = append(c.process.Args, strings.ReplaceAll(arg, "$(POD_NAMESPACE)", installed))
	}
	c.process.Args = append(c.process.Args, "--kubeconfig="+kubeconfig, "--webhook-cert-path="+certs, "--webhook-host=127.0.0.1",
		"--webhook-port="+port, "--health-probe-bind-address="+c.probes, "--metrics-bind-address=localhost:"+securePort)
	c.process.Env = append(os.Environ(), runAsManager+"=1", "ENABLE_WEBHOOKS=true", "POD_NAMESPACE="+installed)
	c.process.Stdout, c.process.Stderr = &c.log, &c.log
	must(t, c.process.Start())
	t.Cleanup(c.kill) // if it hasn't been stopped
	return c
}

func (c *managerReplica) kill() {
	if c.process.ProcessState == nil {
		_ = c.process.Process.Kill()
		_ = c.process.Wait()
	}
}

// stop stops the process as a kubelet does, and returns its exit code.
func (c *managerReplica) stop(t *testing.T) int {
	t.Helper()
	must(t, c.process.Process.Signal(syscall.SIGTERM))
	deadline := time.AfterFunc(30*time.Second, func() { c.process.Process.Kill() })
	defer deadline.Stop()
	_ = c.process.Wait() // the exit code has the error
	return c.process.ProcessState.ExitCode()
}

func (c *managerReplica) isReady(ctx context.Context) bool {
	request, _ := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.probes+"/readyz", nil)
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		return false
	}
	response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// serves connects as the API server does, which expects the Service's name in the certificate.
func (c *managerReplica) serves(ca []byte) error {
	roots, err := cert.NewPoolFromBytes(ca)
	if err != nil {
		return err
	}
	connection, err := tls.Dial("tcp", c.webhooks, &tls.Config{
		RootCAs: roots, ServerName: webhookService + "." + installed + ".svc", NextProtos: []string{"h2", "http/1.1"},
	})
	if err != nil {
		return err
	}
	defer connection.Close()
	if protocol := connection.ConnectionState().NegotiatedProtocol; protocol != "http/1.1" {
		return fmt.Errorf("the protocol is %s, want http/1.1", protocol)
	}
	return nil
}

// metrics returns the HTTP status that a client with that token gets, or 0 if nobody listens yet.
func (c *managerReplica) metrics(t *testing.T, token string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://"+c.secure+"/metrics", nil)
	must(t, err)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	// The manager's own certificate isn't signed by a CA.
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}).Do(request)
	if err != nil {
		return 0
	}
	response.Body.Close()
	return response.StatusCode
}

// freeAddress returns a free address on this machine.
func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	return listener.Addr().String()
}

// eventually waits until a condition holds. If that takes too long, it stops the replicas, shows
// their logs, and fails the test.
func eventually(t *testing.T, what string, replicas []*managerReplica, holds func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(context.WithoutCancel(t.Context()), 50*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err == nil {
		return
	}
	for i, c := range replicas {
		c.kill()
		t.Logf("replica %d:\n%s", i, &c.log)
	}
	t.Fatalf("still not true after a minute: %s", what)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
