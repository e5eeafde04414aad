package suite

import (
	"bufio"
	"context"
	"errors"
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

// beginRun begins a run in the repository at root. end also restores the environment.
func beginRun(t *testing.T, root string) (s *Suite, end func()) {
	t.Helper()
	for _, name := range []string{runVariable, "TMPDIR", "GIT_CEILING_DIRECTORIES"} {
		t.Setenv(name, os.Getenv(name)) // restored after the test
	}
	s = &Suite{Root: root, UI: ui.New(os.Stderr)}
	finish, err := s.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		t.Helper()
		if finish(&err); err != nil {
			t.Error(err)
		}
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

func TestARunLeavesNothing(t *testing.T) {
	sweep := func(t *testing.T, root string) {
		if err := Sweep(t.Context(), root); err != nil {
			t.Fatal(err)
		}
	}
	for sentence, over := range map[string]func(t *testing.T, root string, end func()){
		"when it ends": func(_ *testing.T, _ string, end func()) { end() },
		"when it was killed and the next one begins": func(t *testing.T, root string, _ func()) {
			dropLock(t, root)
			_, end := beginRun(t, root)
			end()
		},
		"when it was killed and a command sweeps": func(t *testing.T, root string, _ func()) {
			dropLock(t, root)
			sweep(t, root)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := t.TempDir()
			foreign := start(t) // before the run: it inherits nothing
			_, end := beginRun(t, root)
			file := filepath.Join(os.TempDir(), "readonly", "file")
			cluster := filepath.Join(stateOf(root), "clusters", "workshop")
			err := errors.Join(
				os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, nil, 0o600), os.Chmod(filepath.Dir(file), 0o500),
				os.MkdirAll(cluster, 0o700))
			if err != nil {
				t.Fatal(err)
			}
			ours := []*gopsutil.Process{start(t), start(t, runVariable+"="+runFolder(readersCopy(root)))}
			others := []*gopsutil.Process{foreign, start(t, runVariable+"=/elsewhere/.workshop/run")}
			sweep(t, root)
			if !process.Runs(t.Context(), ours[0]) {
				t.Error("a command ends a run in progress")
			}
			over(t, root, end)
			for i, p := range ours {
				if process.Runs(context.Background(), p) {
					t.Errorf("process %d of the run still runs", i)
				}
			}
			for i, p := range others {
				if !process.Runs(context.Background(), p) {
					t.Errorf("process %d of others was ended", i)
				}
			}
			if left, _ := filepath.Glob(filepath.Join(stateOf(root), "*")); len(left) != 2 { // clusters, and the lock
				t.Errorf("left: %q", left)
			}
		})
	}
}

// dropLock drops the run's lock and nothing else, as the system does when the process is killed. A
// file that isn't the locked one any more counts as unlocked.
func dropLock(t *testing.T, root string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(stateOf(root), "tests")); err != nil {
		t.Fatal(err)
	}
}

// Go's test cache compares paths in the environment.
func TestEachRunHasItsOwnPathToAFile(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(stateOf(root), "kubeconfig")
	var paths []string
	for range 2 {
		s, end := beginRun(t, root)
		if err := os.WriteFile(file, []byte("the file"), 0o600); err != nil {
			t.Fatal(err)
		}
		path := s.uniquely(file)
		if content, err := os.ReadFile(path); err != nil || string(content) != "the file" {
			t.Errorf("%s has %q, error %v", path, content, err)
		}
		paths = append(paths, path)
		end()
	}
	if _, err := os.Stat(file); err != nil || paths[0] == paths[1] || !strings.HasPrefix(paths[0], runFolder(root)) {
		t.Errorf("the paths are %q, error %v", paths, err)
	}
}
