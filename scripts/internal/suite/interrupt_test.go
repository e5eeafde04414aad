package suite

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
	"example.com/operators/scripts/internal/ui"
)

// aServer starts, as envtest does, a server in a session of its own, and waits without ever
// cleaning up.
const aServer = `package a

import (
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestA(t *testing.T) {
	server := exec.Command("/bin/sh", "-c", "trap '' INT TERM; echo $$ > $STARTED.new && mv $STARTED.new $STARTED; while :; do sleep 0.05; done")
	server.Dir = t.TempDir()
	server.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	<-time.After(time.Hour)
}
`

// The short form of cmd/workshop's TestInterrupts, which takes a real run.
func TestNothingOutlivesAnInterruptedTest(t *testing.T) {
	root := testkit.Write(t, t.TempDir(), map[string]string{"a/go.mod": "module a\n\ngo 1.26\n", "a/a_test.go": aServer})
	started := filepath.Join(root, "started")
	s := &Suite{Root: root, UI: ui.New(os.Stderr)}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	end, err := s.begin(ctx)
	if err != nil {
		t.Fatal(err)
	}
	tests := make(chan error, 1)
	go func() {
		_, err := s.goTest(ctx, s.UI.Start("tests"), "a", []string{"GOWORK=off", "STARTED=" + started}, "./...")
		tests <- err
	}()
	var server *gopsutil.Process
	testkit.Await(t, 2*time.Minute, "the server runs", func() error {
		number, err := os.ReadFile(started)
		if err != nil {
			return err
		}
		pid, err := strconv.ParseInt(strings.TrimSpace(string(number)), 10, 32)
		if err != nil {
			return err
		}
		server, err = gopsutil.NewProcess(int32(pid))
		return err
	})
	interrupt()
	if err := <-tests; !errors.Is(err, context.Canceled) {
		t.Errorf("the tests ended with %v", err)
	}
	if !process.Runs(t.Context(), server) {
		t.Error("the server has ended by itself, so this test shows nothing")
	}
	if end(&err); err != nil {
		t.Error(err)
	}
	if process.Runs(t.Context(), server) {
		t.Error("the server still runs")
	}
	if _, err := os.Stat(filepath.Join(root, ".workshop", "run")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the run's folder is left: %v", err)
	}
}
