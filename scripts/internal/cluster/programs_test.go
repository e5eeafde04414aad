package cluster

import (
	"os"
	"path/filepath"
	"testing"

	gopsutil "github.com/shirou/gopsutil/v4/process"
)

// newCluster returns a cluster that doesn't exist, with a folder for logs.
func newCluster(t *testing.T) *Cluster {
	t.Helper()
	root := t.TempDir()
	c := New(root, filepath.Join(root, "bin"), "test")
	if err := os.MkdirAll(filepath.Join(c.dir, "logs"), 0o700); err != nil {
		t.Fatal(err)
	}
	return c
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
	if p, ok := identify(t.Context(), us, self); ok && p.home == c.dir {
		t.Errorf("this process was identified as %+v", p)
	}
}
