package cluster

// Tests with a real cluster, in a folder with a space in its path. The subtests run in order.

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"

	"example.com/operators/scripts/internal/process"
	"example.com/operators/scripts/internal/testkit"
)

// real is a cluster for one test.
type real struct{ *Cluster }

// newReal returns a cluster that doesn't exist yet, and deletes it after the test.
func newReal(t *testing.T) real {
	t.Helper()
	bin := os.Getenv("WORKSHOP_TEST_BIN")
	if bin == "" {
		t.Skip("needs the control plane: run it by `./scripts/workshop test`, or set WORKSHOP_TEST_BIN to .workshop/bin")
	}
	root := filepath.Join(t.TempDir(), "a folder")
	state := filepath.Join(root, ".workshop")
	if err := errors.Join(os.MkdirAll(state, 0o700), os.Symlink(bin, filepath.Join(state, "bin"))); err != nil {
		t.Fatal(err)
	}
	r := real{New(root, "test")}
	t.Cleanup(func() {
		if _, err := r.Down(context.Background(), true, func(string) {}); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r real) up(t *testing.T, want Outcome) {
	t.Helper()
	outcome, err := r.Up(t.Context(), func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if outcome != want {
		t.Errorf("outcome: %s, want %s", outcome, want)
	}
}

func (r real) kill(t *testing.T, component string) {
	t.Helper()
	running, err := r.running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(t.Context(), process.Those(running[component].Process)); err != nil {
		t.Fatal(err)
	}
}

func (r real) pids(t *testing.T) map[string]int {
	t.Helper()
	running, err := r.running(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for component, p := range running {
		pids[component] = int(p.Pid)
	}
	return pids
}

func TestCluster(t *testing.T) {
	home := t.TempDir()
	sentinel := filepath.Join(home, ".kube", "config")
	testkit.Write(t, home, map[string]string{".kube/config": "the user's own: hands off"})
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", sentinel)

	r := newReal(t)
	r.up(t, Created)
	client, err := Client(r)
	if err != nil {
		t.Fatal(err)
	}
	kept := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}}
	if _, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), kept, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	dataIsThere := func(t *testing.T) {
		t.Helper()
		if _, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}

	t.Run("is ready when up returns", func(t *testing.T) {
		status, err := r.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !status.Ready || status.NodesReady != simulatedNodes || len(status.Down) > 0 {
			t.Errorf("%+v", status)
		}
	})
	t.Run("components listen only on loopback", func(t *testing.T) { onlyLoopback(t, r) })
	t.Run("etcd requires a certificate", func(t *testing.T) { etcdRequiresACertificate(t, r) })
	t.Run("only the user can read the kubeconfig", func(t *testing.T) {
		if info, err := os.Stat(r.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
	t.Run("the audit log has requests", func(t *testing.T) {
		if log, err := os.ReadFile(r.AuditLog()); err != nil || !strings.Contains(string(log), `"configmaps"`) {
			t.Errorf("%d bytes, %v", len(log), err)
		}
	})

	t.Run("a second up does nothing", func(t *testing.T) {
		pids := r.pids(t)
		r.up(t, AlreadyUp)
		if again := r.pids(t); !maps.Equal(pids, again) {
			t.Errorf("processes: %v, then %v", pids, again)
		}
	})
	t.Run("up restarts what was killed", func(t *testing.T) {
		r.kill(t, "kube-apiserver")
		r.kill(t, "kube-scheduler")
		r.up(t, Started)
		dataIsThere(t)
	})
	t.Run("down ends everything, even a stopped process, and up keeps the data", func(t *testing.T) {
		if err := syscall.Kill(r.pids(t)["kube-scheduler"], syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		if ended, err := r.Down(t.Context(), false, nil); err != nil || ended != 5 {
			t.Fatalf("ended %d, %v", ended, err)
		}
		if left := r.pids(t); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
		if ended, err := r.Down(t.Context(), false, nil); err != nil || ended != 0 {
			t.Errorf("down again: ended %d, %v", ended, err)
		}
		r.up(t, Started)
		dataIsThere(t)
	})
	t.Run("the user's kubeconfig is unchanged", func(t *testing.T) {
		if content, err := os.ReadFile(sentinel); err != nil || string(content) != "the user's own: hands off" {
			t.Errorf("%q, %v", content, err)
		}
		if entries, _ := os.ReadDir(home); len(entries) != 1 {
			t.Errorf("new in HOME: %v", entries)
		}
	})
	t.Run("purge leaves nothing", func(t *testing.T) {
		if _, err := r.Down(t.Context(), true, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(r.dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", r.dir, err)
		}
		if left := r.pids(t); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestAnUnfinishedClusterIsCreatedAgain(t *testing.T) {
	tests := map[string]func(t *testing.T, r real){
		"interrupted before it was ready": func(t *testing.T, r real) {
			ctx, cancel := context.WithCancel(t.Context())
			go func() { // as soon as there is an etcd
				_ = wait.PollUntilContextCancel(ctx, time.Millisecond, true, func(ctx context.Context) (bool, error) {
					running, _ := r.running(ctx)
					_, runs := running["etcd"]
					return runs, nil
				})
				cancel()
			}()
			if _, err := r.Up(ctx, func(string) {}); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if left := r.pids(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		},
		"copied from another folder": func(t *testing.T, r real) {
			r.up(t, Created)
			if err := os.WriteFile(r.madeFile(), []byte("/another/folder"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
	}
	for name, breakIt := range tests {
		t.Run(name, func(t *testing.T) {
			r := newReal(t)
			breakIt(t, r)
			r.up(t, Created)
		})
	}
}

func onlyLoopback(t *testing.T, r real) {
	listening := 0
	for component, pid := range r.pids(t) {
		connections, err := psnet.ConnectionsPidWithContext(t.Context(), "all", int32(pid))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range connections {
			if c.Status != "LISTEN" {
				continue
			}
			listening++
			if c.Laddr.IP != "127.0.0.1" && c.Laddr.IP != "::1" {
				t.Errorf("%s listens on %s:%d", component, c.Laddr.IP, c.Laddr.Port)
			}
		}
	}
	if listening < 6 {
		t.Errorf("only %d sockets were found", listening)
	}
}

// etcdRequiresACertificate: etcd rejects clients and peers without the cluster's certificate.
func etcdRequiresACertificate(t *testing.T, r real) {
	first, err := r.firstPort()
	if err != nil {
		t.Fatal(err)
	}
	path := func(name string) string { return filepath.Join(r.dir, name) }
	for _, port := range []int{first + etcdPort, first + etcdPeerPort} {
		for _, authorized := range []bool{false, true} {
			files := rest.TLSClientConfig{CAFile: path(caFile), NextProtos: []string{"http/1.1"}}
			if authorized {
				files.CertFile, files.KeyFile = path(certFile), path(keyFile)
			}
			client, err := rest.HTTPClientFor(&rest.Config{TLSClientConfig: files})
			if err != nil {
				t.Fatal(err)
			}
			response, err := client.Get(httpsURL(port) + "/version")
			if err == nil {
				_ = response.Body.Close()
			}
			if (err == nil) != authorized || err != nil && !strings.Contains(err.Error(), "certificate required") {
				t.Errorf("port %d with a certificate (%v): %v", port, authorized, err)
			}
		}
	}
}
