//go:build kind

package kind

// The promises of a cluster of kind, on a real one. Its parts run in order.

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/problem"
	"example.com/operators/scripts/internal/testkit"
)

func TestARealCluster(t *testing.T) {
	root, own := t.TempDir(), filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", own) // instead of ~/.kube/config
	c := forTests(t, root, "test-of-kind")
	up := func(c *Cluster, want cluster.Outcome) {
		t.Helper()
		result, err := c.Up(t.Context(), cluster.UpOptions{Progress: func(doing string) { t.Log(doing) }})
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != want {
			t.Errorf("outcome: %s, want %s", result.Outcome, want)
		}
		if status, err := c.Status(t.Context()); err != nil || !status.Ready || status.NodesReady != 1 {
			t.Errorf("status %+v, error %v", status, err)
		}
	}
	up(c, cluster.Created)
	up(c, cluster.AlreadyUp)

	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the user's own kubeconfig exists now, error %v", err)
	}
	if info, err := os.Stat(c.Kubeconfig()); err != nil || info.Mode() != 0o600 {
		t.Errorf("the kubeconfig: %v, error %v", info, err)
	}

	// Another folder's workshop can't take it for its own.
	other := New(t.TempDir(), "test-of-kind")
	var p *problem.Problem
	if _, err := other.Up(t.Context(), cluster.UpOptions{}); !errors.As(err, &p) || !strings.Contains(p.What, "wasn't created in this folder") {
		t.Errorf("another folder's Up: %v", err)
	}
	if ended, err := other.Down(t.Context(), true, nil); ended != 0 || err != nil {
		t.Errorf("another folder's Down ended %d, error %v", ended, err)
	}

	config, err := cluster.RESTConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "asked-for", metav1.GetOptions{}); err == nil {
		t.Error("there is a ConfigMap that nobody made")
	}
	if log, err := os.ReadFile(c.AuditLog()); err != nil || !strings.Contains(string(log), "asked-for") {
		t.Errorf("the audit log doesn't tell of a request: error %v", err)
	}

	if err := c.LoadStandIn(t.Context(), SampleImages()...); err != nil {
		t.Fatal(err)
	}
	images, err := docker(t.Context(), "exec", c.Node(), "ctr", "--namespace=k8s.io", "images", "ls", "-q")
	if err != nil || !strings.Contains(images, "docker.io/library/nginx:latest") {
		t.Errorf("the node has %s, error %v", images, err)
	}

	// A crash, and a reboot.
	if err := c.Kill(t.Context(), "kube-apiserver"); err != nil {
		t.Fatal(err)
	}
	up(c, cluster.AlreadyUp)
	if _, err := docker(t.Context(), "stop", c.Node()); err != nil {
		t.Fatal(err)
	}
	if serves, err := c.Serves(t.Context()); serves || err != nil {
		t.Errorf("a stopped one serves: %v, error %v", serves, err)
	}
	up(c, cluster.Started)

	if ended, err := c.Down(t.Context(), false, nil); ended != 1 || err != nil {
		t.Errorf("ended %d, error %v", ended, err)
	}
	if node, err := inspect(t.Context(), c.Node()); err != nil || node.ID != "" {
		t.Errorf("its container is still there: %+v, error %v", node, err)
	}
}

func TestAnImageThatCantBePulled(t *testing.T) {
	c := forTests(t, t.TempDir(), "test-of-image")
	c.Image = "localhost:1/no-such-image:v0"
	_, err := c.Up(t.Context(), cluster.UpOptions{})
	var p *problem.Problem
	if want := "the node image " + c.Image + " can't be pulled"; !errors.As(err, &p) || p.What != want {
		t.Errorf("got %v, want %q", err, want)
	}
	if c.Begun() {
		t.Error("the cluster counts as created")
	}
}

// Whatever kind is doing, an interrupt ends it.
func TestAnInterruptLeavesNothing(t *testing.T) {
	for _, phase := range []string{"creating the cluster", "preparing nodes", "starting control-plane"} {
		t.Run(phase, func(t *testing.T) {
			c := forTests(t, t.TempDir(), "test-of-interrupt")
			ctx, interrupt := context.WithCancel(t.Context())
			_, err := c.Up(ctx, cluster.UpOptions{Progress: func(doing string) {
				if strings.Contains(doing, phase) {
					interrupt()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
			if node, err := inspect(t.Context(), c.Node()); err != nil || node.ID != "" {
				t.Errorf("its container is still there: %+v, error %v", node, err)
			}
			if c.Begun() {
				t.Error("its creation counts as begun")
			}
		})
	}
}

// What comes later is worth keeping: the next call goes on with it.
func TestInterruptedWhileItBecomesReady(t *testing.T) {
	c := forTests(t, t.TempDir(), "test-of-interrupt")
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := c.Up(ctx, cluster.UpOptions{Progress: func(doing string) {
		if doing == "waiting for the API server" {
			interrupt()
		}
	}})
	if !errors.Is(err, context.Canceled) || !c.Exists() {
		t.Errorf("error %v, made: %v", err, c.Exists())
	}
	if result, err := c.Up(t.Context(), cluster.UpOptions{}); err != nil || result.Outcome != cluster.AlreadyUp {
		t.Errorf("again: %+v, error %v", result, err)
	}
}

// forTests is a cluster of a name that only these tests use. What a run that was killed has left of
// it goes first; it goes when the test ends.
func forTests(t *testing.T, root, name string) *Cluster {
	t.Helper()
	scripts, err := filepath.Abs(filepath.Join(testkit.Repository(), "scripts")) // names the version of kind
	if err = errors.Join(err, os.Symlink(scripts, filepath.Join(root, "scripts"))); err != nil {
		t.Fatal(err)
	}
	c := New(root, name)
	c.Image = os.Getenv("TEST_KIND_IMAGE")
	if left, err := inspect(t.Context(), c.Node()); err != nil {
		t.Fatal(err)
	} else if left.ID != "" {
		if _, err := docker(t.Context(), "rm", "--force", "--volumes", left.ID); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if _, err := c.Down(context.Background(), false, nil); err != nil {
			t.Error(err)
		}
	})
	return c
}
