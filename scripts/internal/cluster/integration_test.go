package cluster

// Tests with a real cluster, in a folder with a space in its path. The subtests run in order.

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	psnet "github.com/shirou/gopsutil/v4/net"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// real is a cluster for one test.
type real struct {
	*Cluster
	root string
}

// newReal returns a cluster that doesn't exist yet, and deletes it after the test.
func newReal(t *testing.T) real {
	t.Helper()
	bin := os.Getenv("WORKSHOP_TEST_BIN")
	if bin == "" {
		t.Skip("needs the control plane's programs: run it by `./scripts/workshop test`, or set WORKSHOP_TEST_BIN to .workshop/bin")
	}
	root := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(root, 0o700); err != nil {
		t.Fatal(err)
	}
	r := real{New(root, bin, "test"), root}
	t.Cleanup(func() {
		if _, err := r.Down(context.Background(), true, func(string) {}); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (r real) up(t *testing.T, want Outcome) UpResult {
	t.Helper()
	result, err := r.Up(t.Context(), UpOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s in %s", result.Outcome, result.Elapsed)
	if result.Outcome != want {
		t.Errorf("outcome: %s, want %s", result.Outcome, want)
	}
	return result
}

func (r real) kill(t *testing.T, component string) {
	t.Helper()
	if err := r.Kill(t.Context(), component); err != nil {
		t.Fatal(err)
	}
}

func (r real) clientset(t *testing.T) kubernetes.Interface {
	t.Helper()
	config, err := RESTConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	return kubernetes.NewForConfigOrDie(config)
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
	writeFile(t, sentinel, "the user's own: hands off")
	before := modTime(t, sentinel)
	t.Setenv("HOME", home)
	t.Setenv("KUBECONFIG", sentinel)

	r := newReal(t)
	if result := r.up(t, Created); result.Nodes != DefaultNodes {
		t.Errorf("nodes: %d", result.Nodes)
	}
	client := r.clientset(t)
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
		if !status.Ready || status.NodesReady != DefaultNodes || len(status.Components) != 5 || status.RSS() > 1300<<20 {
			t.Errorf("%+v, %d MiB", status, status.RSS()>>20)
		}
		if !strings.HasPrefix(status.Version, "v1.") {
			t.Errorf("version: %q", status.Version)
		}
	})
	t.Run("components listen only on loopback", func(t *testing.T) { onlyLoopback(t, r) })
	t.Run("etcd requires a certificate", func(t *testing.T) { etcdRequiresACertificate(t, r) })
	t.Run("etcd shows the stored versions", func(t *testing.T) { storedVersionsAreShown(t, r) })
	t.Run("stored objects are migrated", func(t *testing.T) { storageIsMigrated(t, r) })
	t.Run("only the user can read the kubeconfig", func(t *testing.T) {
		if info, err := os.Stat(r.Kubeconfig()); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
	})
	t.Run("RBAC is on", func(t *testing.T) { tokensNeedRights(t, r, client) })
	t.Run("the garbage collector runs", func(t *testing.T) { ownedObjectsAreDeleted(t, client) })
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
	t.Run("up changes the number of nodes only if there is one", func(t *testing.T) {
		for _, nodes := range []int{23, 3, 0} {
			result, err := r.Up(t.Context(), UpOptions{Nodes: nodes})
			if err != nil {
				t.Fatal(err)
			}
			if want := max(nodes, 3); result.Nodes != want {
				t.Errorf("asked for %d: %d", nodes, result.Nodes)
			}
		}
	})
	t.Run("up restarts a killed API server and scheduler", func(t *testing.T) {
		r.kill(t, "kube-apiserver")
		r.kill(t, "kube-scheduler")
		r.up(t, Started)
		dataIsThere(t)
	})
	t.Run("up restarts everything after a reboot", func(t *testing.T) {
		for component := range r.pids(t) {
			r.kill(t, component)
		}
		r.up(t, Started)
		dataIsThere(t)
		podsRunAndStop(t, client)
	})
	t.Run("up names the program that uses a port, and keeps the data", func(t *testing.T) { takenPort(t, r, dataIsThere) })
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
		podsRunAndStop(t, client)
	})
	t.Run("the user's kubeconfig is unchanged", func(t *testing.T) {
		content, err := os.ReadFile(sentinel)
		if err != nil || string(content) != "the user's own: hands off" || !modTime(t, sentinel).Equal(before) {
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
			if _, err := r.Up(ctx, UpOptions{}); !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
			if left := r.pids(t); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		},
		"interrupted while it got its nodes": func(t *testing.T, r real) {
			ctx, cancel := context.WithCancel(t.Context())
			_, err := r.Up(ctx, UpOptions{Progress: func(doing string) {
				if strings.Contains(doing, "nodes") {
					cancel()
				}
			}})
			if !errors.Is(err, context.Canceled) {
				t.Fatalf("got %v", err)
			}
		},
		"copied from another folder": func(t *testing.T, r real) {
			r.up(t, Created)
			if err := os.WriteFile(r.madeFile(), []byte("/another/folder"), 0o600); err != nil {
				t.Fatal(err)
			}
		},
		"without its ports": func(t *testing.T, r real) {
			r.up(t, Created)
			if err := os.Remove(filepath.Join(r.dir, portsFile)); err != nil {
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

func TestTwoUpsAtOnceBothSucceed(t *testing.T) {
	r := newReal(t)
	var both sync.WaitGroup
	outcomes := make([]Outcome, 2)
	for i := range outcomes {
		both.Go(func() {
			result, err := New(r.root, os.Getenv("WORKSHOP_TEST_BIN"), r.name).Up(t.Context(), UpOptions{})
			if err != nil {
				t.Error(err)
			}
			outcomes[i] = result.Outcome
		})
	}
	both.Wait()
	slices.Sort(outcomes)
	if !slices.Equal(outcomes, []Outcome{AlreadyUp, Created}) {
		t.Errorf("outcomes: %v", outcomes)
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

func tokensNeedRights(t *testing.T, r real, client kubernetes.Interface) {
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	config, err := RESTConfig(r)
	if err != nil {
		t.Fatal(err)
	}
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = token.Status.Token
	account := kubernetes.NewForConfigOrDie(config)

	if _, err := account.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("without rights: %v", err)
	}
	binding := &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view"},
		Subjects:   []rbacv1.Subject{{Kind: "ServiceAccount", Name: "default", Namespace: "default"}},
	}
	if _, err := client.RbacV1().RoleBindings("default").Create(t.Context(), binding, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) (bool, error) {
		_, err := account.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
		return err == nil, nil
	})
}

func ownedObjectsAreDeleted(t *testing.T, client kubernetes.Interface) {
	configMaps := client.CoreV1().ConfigMaps("default")
	owner, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owned", OwnerReferences: []metav1.OwnerReference{{
		APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID,
	}}}}
	if _, err := configMaps.Create(t.Context(), owned, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := configMaps.Delete(t.Context(), "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) (bool, error) {
		_, err := configMaps.Get(ctx, "owned", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

// podsRunAndStop: a Pod becomes ready and can be deleted, so the scheduler and kwok work.
func podsRunAndStop(t *testing.T, client kubernetes.Interface) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	eventually(t, func(ctx context.Context) (bool, error) { // the controller manager creates the ServiceAccount
		_, err := pods.Create(ctx, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "alive"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.com/any"}}},
		}, metav1.CreateOptions{})
		return err == nil, nil
	})
	eventually(t, func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, "alive", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
	if err := pods.Delete(t.Context(), "alive", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) (bool, error) {
		_, err := pods.Get(ctx, "alive", metav1.GetOptions{})
		return apierrors.IsNotFound(err), nil
	})
}

func takenPort(t *testing.T, r real, dataIsThere func(*testing.T)) {
	status, err := r.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port := strconv.Itoa(status.Components[0].Port)
	r.kill(t, status.Components[0].Name)
	var listener net.Listener
	eventually(t, func(context.Context) (bool, error) { // the system releases it after a moment
		listener, err = net.Listen("tcp", "127.0.0.1:"+port)
		return err == nil, nil
	})
	defer listener.Close()
	_, err = r.Up(t.Context(), UpOptions{})
	for _, want := range []string{"port " + port, status.Components[0].Name, "pid " + strconv.Itoa(os.Getpid())} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: doesn't say %q", err, want)
		}
	}
	_ = listener.Close()
	r.up(t, Started)
	dataIsThere(t)
}

// eventually polls a condition until it is true, and fails the test after 30 seconds.
func eventually(t *testing.T, condition wait.ConditionWithContextFunc) {
	t.Helper()
	if err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, condition); err != nil {
		t.Fatal(err)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func modTime(t *testing.T, path string) time.Time {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.ModTime()
}
