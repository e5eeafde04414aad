package faults

// Sessions with a fake API server. Their program is this test's own binary: see program_test.go.

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

const timeout = 30 * time.Second

// test is a Session that runs.
type test struct {
	*testing.T
	api   *apiServer
	turns chan struct{}
	told  process.Buffer
	seen  int // so much of it was waited for
	end   context.CancelFunc
	err   error         // what Run has returned
	ended chan struct{} // closed when it has
}

func try(t *testing.T, fault string) *test {
	t.Helper()
	found, err := Find(fault)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(isProgram, "yes")
	tr := &test{T: t, api: newAPIServer(t), turns: make(chan struct{}), ended: make(chan struct{})}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*withToken(tr.api.config.Host), kubeconfig); err != nil {
		t.Fatal(err)
	}
	session := Session{
		Fault: found, Target: tr.api.config, Binary: binary, Kubeconfig: kubeconfig, Flags: []string{"--a-flag"},
		Ready: func(context.Context) error { return nil }, Commands: map[string]string{Scale: "scale it"},
		Turns: tr.turns, Out: &tr.told, Colours: ui.NewPalette(false),
	}
	ctx, cancel := context.WithCancel(t.Context())
	tr.end = cancel
	go func() {
		defer close(tr.ended)
		tr.err = session.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-tr.ended
		if left, err := filepath.Glob(kubeconfig + ".*"); err != nil || len(left) > 0 {
			t.Errorf("files are left: %v", left)
		}
	})
	return tr
}

func withToken(server string) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["cluster"] = &clientcmdapi.Cluster{Server: server}
	config.AuthInfos["program"] = &clientcmdapi.AuthInfo{Token: "secret"}
	config.Contexts["program"] = &clientcmdapi.Context{Cluster: "cluster", AuthInfo: "program"}
	config.CurrentContext = "program"
	return config
}

// prints waits until these lines were printed in this order, after those waited for before. There
// may be others in between.
func (tr *test) prints(lines ...string) {
	tr.Helper()
	for _, line := range lines {
		testkit.Await(tr, timeout, "it prints "+line, func() error {
			text := tr.told.String()
			i := strings.Index(text[tr.seen:], line+"\n")
			if i < 0 {
				return fmt.Errorf("after\n%s\nit has printed\n%s", text[:tr.seen], text[tr.seen:])
			}
			tr.seen += i + len(line)
			return nil
		})
	}
}

// turn does what Enter does.
func (tr *test) turn() { tr.turns <- struct{}{} }

// ends ends the session.
func (tr *test) ends() {
	tr.Helper()
	tr.end()
	<-tr.ended
	if tr.err != nil {
		tr.Errorf("it ended with %v", tr.err)
	}
}

func TestAFaultBeginsAndEnds(t *testing.T) {
	tr := try(t, "f4A")
	tr.prints("== faults.test starts behind the fault proxy", "program   up: --a-flag", "request   watch foos: 200",
		"== It has settled")
	tr.api.event()
	tr.prints("request   3 reads", "request   patch deployments a/x: 200", "program   I main.go:1] an event")
	tr.turn()
	tr.prints("== F4a begins: writes are answered with 500", "     scale it")
	tr.api.event()
	tr.prints("fault     writes refused so far: 1")
	tr.turn()
	tr.prints("== F4a ends")
	tr.api.event()
	tr.prints("request   patch deployments a/x: 200")
	tr.turn()
	tr.prints("== F4a begins: writes are answered with 500")
	tr.end() // while it lasts
	tr.prints("== F4a ends", "   0 writes refused, because nothing that it acts on happened meanwhile.",
		"program   down")
	tr.ends()
}

func TestTheProgramIsKilledAndStartedAgain(t *testing.T) {
	tr := try(t, "F5")
	tr.prints("== It has settled")
	tr.turn()
	tr.prints("== F5 begins: the program is killed after its next write, before it can send")
	tr.api.event()
	tr.prints("request   patch deployments a/x: 200", "program   has exited (signal: killed), and is started again",
		"program   up: --a-flag")
	tr.ends()
}

func TestAProgramThatCantBeStarted(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*withToken("https://127.0.0.1:1"), kubeconfig); err != nil {
		t.Fatal(err)
	}
	err := Session{
		Target: newAPIServer(t).config, Binary: "/nowhere", Kubeconfig: kubeconfig,
		Out: &process.Buffer{}, Colours: ui.NewPalette(false),
	}.Run(t.Context())
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}
