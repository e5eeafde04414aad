//go:build kind

package kind

// The promises of a cluster of kind, on a real one.

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
	"example.com/operators/scripts/internal/testkit"
)

// Its parts run in order.
func TestARealCluster(t *testing.T) {
	root, own := t.TempDir(), filepath.Join(t.TempDir(), "config")
	t.Setenv("KUBECONFIG", own) // instead of ~/.kube/config
	c := forTests(t, root, "test-of-kind")
	up := func(want cluster.Outcome) {
		t.Helper()
		outcome, err := c.Up(t.Context(), func(doing string) { t.Log(doing) })
		if err != nil {
			t.Fatal(err)
		}
		if outcome != want {
			t.Errorf("outcome: %s, want %s", outcome, want)
		}
		if status, err := c.Status(t.Context()); err != nil || !status.Ready || status.NodesReady != 1 {
			t.Errorf("status %+v, error %v", status, err)
		}
	}
	up(cluster.Created)
	up(cluster.AlreadyUp)

	if _, err := os.Stat(own); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the user's own kubeconfig exists now, error %v", err)
	}
	if info, err := os.Stat(c.Kubeconfig()); err != nil || info.Mode() != 0o600 {
		t.Errorf("the kubeconfig: %v, error %v", info, err)
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
		t.Errorf("the audit log doesn't have a request: error %v", err)
	}

	kubectl := cluster.Kubectl{Binary: os.Getenv("TEST_KUBECTL"), Kubeconfig: c.Kubeconfig()}
	if err := c.LoadStandIn(t.Context(), kubectl, SampleImages()...); err != nil {
		t.Fatal(err)
	}
	images, err := docker(t.Context(), "exec", c.Node(), "ctr", "--namespace=k8s.io", "images", "ls", "-q")
	if err != nil || !strings.Contains(images, "docker.io/library/nginx:latest") {
		t.Errorf("the node has %s, error %v", images, err)
	}

	// A reboot.
	up(cluster.AlreadyUp)
	if _, err := docker(t.Context(), "stop", c.Node()); err != nil {
		t.Fatal(err)
	}
	if serves, err := c.Serves(t.Context()); serves || err != nil {
		t.Errorf("a stopped one serves: %v, error %v", serves, err)
	}
	up(cluster.Started)

	if ended, err := c.Down(t.Context(), false, nil); ended != 1 || err != nil {
		t.Errorf("ended %d, error %v", ended, err)
	}
	if found, _, err := inspect(t.Context(), c.Node()); err != nil || found {
		t.Errorf("its container is still there: %v, error %v", found, err)
	}
}

func TestUpContinuesAfterAnInterrupt(t *testing.T) {
	c := forTests(t, t.TempDir(), "test-of-interrupt")
	ctx, interrupt := context.WithCancel(t.Context())
	_, err := c.Up(ctx, func(doing string) {
		if strings.Contains(doing, "starting control-plane") {
			interrupt()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if outcome, err := c.Up(t.Context(), func(string) {}); err != nil || outcome != cluster.Created {
		t.Errorf("again: %s, error %v", outcome, err)
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
	if _, err := c.removeNode(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := c.Down(context.Background(), false, nil); err != nil {
			t.Error(err)
		}
	})
	return c
}
