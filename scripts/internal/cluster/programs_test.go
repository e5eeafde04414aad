package cluster

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"
)

// newCluster returns a cluster that doesn't exist, with the folders that kwokctl would create.
func newCluster(t *testing.T) *Cluster {
	t.Helper()
	root := t.TempDir()
	c := New(root, filepath.Join(root, "bin"), "test")
	for _, dir := range []string{"pids", "logs"} {
		if err := os.MkdirAll(filepath.Join(c.kwok(), dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestWritePIDFiles(t *testing.T) {
	us := strconv.Itoa(os.Getpid())
	etcd := map[string]program{"etcd": {component: "etcd", Process: &gopsutil.Process{Pid: 42}}}
	tests := map[string]struct {
		file    string // content of etcd.pid; "": there is none
		running map[string]program
		want    string
	}{
		"one that names another process is deleted":   {us, nil, ""},
		"one that names another process is corrected": {us, etcd, "42"},
		"one of a process that has ended is deleted":  {"42", nil, ""},
		"one without a number is deleted":             {"?", nil, ""},
		"one that is correct stays":                   {"42", etcd, "42"},
		"a missing one is written":                    {"", etcd, "42"},
		"none is written without a process":           {"", nil, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			path := filepath.Join(c.kwok(), "pids", "etcd.pid")
			if test.file != "" {
				if err := os.WriteFile(path, []byte(test.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.writePIDFiles(test.running); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(path); string(got) != test.want {
				t.Errorf("etcd.pid: %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheTestsOwnProcessBelongsToNoCluster(t *testing.T) {
	c := newCluster(t)
	running, err := c.running(t.Context())
	if err != nil || len(running) != 0 {
		t.Errorf("found %v, %v", running, err)
	}
	us := &gopsutil.Process{Pid: int32(os.Getpid())}
	self, err := us.Exe()
	if err != nil {
		t.Fatal(err)
	}
	// Even a process that runs the right executable must have been started as a component.
	if p, ok := identify(t.Context(), us, map[string]bool{self: true}); ok && p.home == c.kwok() {
		t.Errorf("this process was identified as %+v", p)
	}
}
