package suite

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/ui"
)

// inRun does something during a run in the repository at root.
func inRun(t *testing.T, root string, do func(*Suite)) {
	t.Helper()
	t.Setenv(runVariable, os.Getenv(runVariable)) // restored after the test
	s := &Suite{Root: root, UI: ui.New(os.Stderr)}
	err := s.during(t.Context(), func() error {
		do(s)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// start starts a program that runs until it is killed, in a session of its own as servers do, and
// returns when it runs.
func start(t *testing.T, env ...string) *gopsutil.Process {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", `trap "" TERM; echo up; while :; do sleep 0.05; done`)
	command.Env = append(os.Environ(), env...)
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	output, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-command.Process.Pid, syscall.SIGKILL)
		_ = command.Wait()
	})
	if _, err := bufio.NewReader(output).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p, err := gopsutil.NewProcess(int32(command.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestARunLeavesNoProcesses(t *testing.T) {
	root := t.TempDir()
	running := map[string]*gopsutil.Process{
		"another program's":    start(t),
		"another repository's": start(t, runVariable+"=/elsewhere/.workshop/run"),
		"a killed run's":       start(t, runVariable+"="+runFolder(root)),
		"the texts'":           start(t, runVariable+"="+runFolder(readersCopy(root))),
	}
	inRun(t, root, func(*Suite) { running["the run's own"] = start(t) })
	for whose, p := range running {
		if want := strings.HasPrefix(whose, "another"); process.Runs(context.Background(), p) != want {
			t.Errorf("%s process runs: %v, want %v", whose, !want, want)
		}
	}
}

// Go's test cache compares paths in the environment.
func TestEachRunHasItsOwnPathToAFile(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(stateOf(root), "kubeconfig")
	var paths []string
	for range 2 {
		inRun(t, root, func(s *Suite) {
			if err := os.WriteFile(file, []byte("the file"), 0o600); err != nil {
				t.Fatal(err)
			}
			path := s.uniquely(file)
			if content, err := os.ReadFile(path); err != nil || string(content) != "the file" {
				t.Errorf("%s has %q, error %v", path, content, err)
			}
			paths = append(paths, path)
		})
	}
	if _, err := os.Stat(file); err != nil || paths[0] == paths[1] || !strings.HasPrefix(paths[0], runFolder(root)) {
		t.Errorf("the paths are %q, error %v", paths, err)
	}
}
