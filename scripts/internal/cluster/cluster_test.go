package cluster

// Tests without a cluster.

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"

	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
)

// newCluster returns a cluster that doesn't exist, with a folder for logs.
func newCluster(t *testing.T) *Cluster {
	t.Helper()
	root := t.TempDir()
	c := New(root, "test")
	if err := os.MkdirAll(filepath.Join(c.dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
}

func TestCheckName(t *testing.T) {
	for name, good := range map[string]bool{
		"workshop": true, "test-2": true, "": false, "..": false, "a/b": false, "Test": false,
	} {
		if err := CheckName(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestAComponentThatEnds(t *testing.T) {
	for log, want := range map[string]string{
		"E1121 03:21:22.2 broken\nI1121 03:21:22.3 bye\n": "its log ends with:\nE1121 03:21:22.2 broken\nI1121",

		"listen tcp 127.0.0.1:20001: bind: address already in use\n": "since another program uses its port",
	} {
		c := newCluster(t)
		testkit.Write(t, c.dir, map[string]string{"logs/kube-apiserver.log": log})
		err := c.ended("kube-apiserver")
		var p *problem.Problem
		if !errors.As(err, &p) || !strings.Contains(err.Error(), want) || p.Log != c.ComponentLog("kube-apiserver") {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestPurgeKeepsMatchingFiles(t *testing.T) {
	for sentence, test := range map[string]struct{ keep, want []string }{
		"a learner's files": {[]string{"progress*.json", "kept"}, []string{"kept", "progress.json"}},
		"nothing":           {nil, nil},
	} {
		t.Run(sentence, func(t *testing.T) {
			root := testkit.Write(t, t.TempDir(), map[string]string{
				".workshop/bin/controlplane": "", ".workshop/run.kubeconfig": "",
				".workshop/kept/01-1.go": "", ".workshop/progress.json": "",
			})
			ended, kept, err := Purge(t.Context(), root, test.keep, nil)
			if err != nil || ended != 0 || !slices.Equal(kept, test.want) {
				t.Errorf("ended %d, kept %q, error %v; want %q kept", ended, kept, err, test.want)
			}
			entries, err := os.ReadDir(filepath.Join(root, ".workshop"))
			if len(entries) != len(test.want) || test.want == nil && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("left: %v, error %v", entries, err)
			}
		})
	}
}

// In copies of the repository for tests, the program is a link to the original's.
func TestPurgeEndsNoClusterOfAnotherRepository(t *testing.T) {
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash")
	}
	content, err := os.ReadFile(shell)
	if err != nil {
		t.Fatal(err)
	}
	const program = ".workshop/bin/controlplane"
	ours, others := resolve(t.TempDir()), resolve(t.TempDir())
	testkit.Write(t, others, map[string]string{program: string(content)})
	original, link := filepath.Join(others, program), filepath.Join(ours, program)
	err = errors.Join(os.Chmod(original, 0o700), os.MkdirAll(filepath.Dir(link), 0o700), os.Symlink(original, link))
	if err != nil {
		t.Fatal(err)
	}
	our := startComponent(t, original, filepath.Join(ours, ".workshop", "clusters", "workshop"))
	theirs := startComponent(t, original, filepath.Join(others, ".workshop", "clusters", "workshop"))

	if ended, _, err := Purge(t.Context(), ours, nil, nil); err != nil || ended != 1 {
		t.Errorf("ended %d, error %v", ended, err)
	}
	if process.Runs(t.Context(), our) || !process.Runs(t.Context(), theirs) {
		t.Error("ours still runs, or theirs was ended")
	}
	if _, err := os.Stat(original); err != nil {
		t.Errorf("the original program: %v", err)
	}
}

// startComponent starts a program as a component, and waits for it.
func startComponent(t *testing.T, executable, home string) *gopsutil.Process {
	t.Helper()
	command := exec.Command(executable, "-c", "echo up; read line")
	command.Args[0] = filepath.Join(home, "etcd")
	input, inErr := command.StdinPipe()
	output, outErr := command.StdoutPipe()
	if err := errors.Join(inErr, outErr, command.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close() // that ends it
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
