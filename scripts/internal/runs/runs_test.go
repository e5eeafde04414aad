package runs

import (
	"bufio"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/process"
)

// begin begins a run in a repository of its own.
func begin(t *testing.T, root string) *Run {
	t.Helper()
	for _, name := range []string{variable, "TMPDIR", "GIT_CEILING_DIRECTORIES"} {
		t.Setenv(name, os.Getenv(name)) // restored after the test, whatever happens
	}
	r, err := Begin(t.Context(), root, func(holder string) { t.Errorf("waits for %s", holder) })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// die drops the run's lock and nothing else, as the system does when the process is killed.
func (r *Run) die() { r.release() }

// start starts a program that runs until it is killed, in a session of its own as servers do, and
// returns when it runs.
func start(t *testing.T, name string, env ...string) *gopsutil.Process {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", `trap "" TERM; echo up; while :; do sleep 0.05; done`)
	command.Args[0] = name
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

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

func TestARunEndsItsProcesses(t *testing.T) {
	for sentence, over := range map[string]func(*testing.T, *Run, string) error{
		"when it ends": func(t *testing.T, r *Run, _ string) error { return r.End(t.Context()) },
		"when it is interrupted": func(t *testing.T, r *Run, _ string) error {
			ctx, interrupt := context.WithCancel(t.Context())
			interrupt()
			return r.End(ctx)
		},
		"when it was killed and the next begins": func(t *testing.T, r *Run, root string) error {
			r.die()
			return begin(t, root).End(t.Context())
		},
		"when it was killed and somebody sweeps": func(t *testing.T, r *Run, root string) error {
			r.die()
			return Sweep(t.Context(), root)
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			foreign := start(t, "etcd") // before the run: it inherits nothing
			r := begin(t, root)
			if err := r.Own("clusters/test", "clusters/kept"); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(os.TempDir(), "readonly", "file")
			for _, path := range []string{file, r.path("clusters/test/file"), r.path("clusters/kept/file"), r.path("clusters/workshop/file")} {
				if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chmod(filepath.Dir(file), 0o500); err != nil {
				t.Fatal(err)
			}
			ours := []*gopsutil.Process{
				start(t, "an heir"),
				start(t, r.path("clusters/test/bin/etcd"), variable+"="),
				start(t, "of a run in a run", variable+"="+r.path("clusters/test/.workshop/run")),
			}
			theirs := []*gopsutil.Process{
				foreign,
				start(t, r.path("clusters/workshop/bin/etcd"), variable+"="),
				start(t, "of another repository", variable+"=/elsewhere/.workshop/run"),
			}
			keeper := start(t, r.path("clusters/kept/bin/etcd"), variable+"=")
			kept := sentence == "when it ends" // otherwise there is no failure to look at
			if kept {
				theirs = append(theirs, keeper)
			} else {
				ours = append(ours, keeper)
			}
			r.Keep("clusters/kept")
			if err := over(t, r, root); err != nil {
				t.Fatal(err)
			}
			for _, p := range ours {
				if process.Runs(context.Background(), p) {
					t.Errorf("%v still runs", p)
				}
			}
			for i, p := range theirs {
				if !process.Runs(context.Background(), p) {
					t.Errorf("process %d of others was ended", i)
				}
			}
			for path, want := range map[string]bool{
				r.dir(): false, r.path("clusters/test"): false, r.path("clusters/kept"): kept, r.path("clusters/workshop/file"): true,
			} {
				if exists(path) != want {
					t.Errorf("%s is there: %v, want %v", path, !want, want)
				}
			}
		})
	}
}

func TestSweepLeavesARunInProgressAlone(t *testing.T) {
	root := t.TempDir()
	r := begin(t, root)
	p := start(t, "an heir")
	if err := Sweep(t.Context(), root); err != nil {
		t.Fatal(err)
	}
	if !process.Runs(t.Context(), p) || !exists(r.temporary()) {
		t.Error("it was ended")
	}
	if err := r.End(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestTemporaryFilesAreTheRuns(t *testing.T) {
	before := os.TempDir()
	root := t.TempDir()
	r := begin(t, root)
	if os.TempDir() != r.temporary() {
		t.Errorf("temporary files go to %s", os.TempDir())
	}
	if output, err := exec.Command("git", "init", root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	folder, err := os.MkdirTemp("", "") // t.TempDir was called before
	if err != nil {
		t.Fatal(err)
	}
	if output, err := exec.Command("git", "-C", folder, "rev-parse").CombinedOutput(); !strings.HasPrefix(folder, r.dir()) || err == nil {
		t.Errorf("git takes %s for a part of the repository: %s", folder, output)
	}
	if err := r.End(t.Context()); err != nil {
		t.Error(err)
	}
	if os.TempDir() != before {
		t.Errorf("after the run, temporary files go to %s", os.TempDir())
	}
}

func (r *Run) path(path string) string { return filepath.Join(r.state, path) }

func TestUnique(t *testing.T) {
	root := t.TempDir()
	var paths []string
	for range 2 {
		r := begin(t, root)
		file := filepath.Join(r.state, "kubeconfig")
		if err := os.WriteFile(file, []byte("the file"), 0o600); err != nil {
			t.Fatal(err)
		}
		path := r.Unique(file)
		if content, err := os.ReadFile(path); err != nil || string(content) != "the file" {
			t.Errorf("%s has %q, error %v", path, content, err)
		}
		if elsewhere := r.Unique("/elsewhere"); elsewhere != "/elsewhere" {
			t.Errorf("a file outside is called %s", elsewhere)
		}
		paths = append(paths, path)
		if err := r.End(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("the run's end has removed the file itself: %v", err)
		}
	}
	if paths[0] == paths[1] {
		t.Errorf("both runs have %s", paths[0])
	}
}
