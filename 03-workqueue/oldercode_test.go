// What some lines of older articles do. more/older-code.md and scripts/docs/corrections.md run these
// tests.

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// factory.Start starts the informers that somebody has asked for. One that is asked for afterwards
// needs another Start.
func TestStartBeforeInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
		factory := informers.NewSharedInformerFactory(fake.NewSimpleClientset(deployment), 0)
		defer factory.Shutdown()
		stopCh := make(chan struct{})
		defer close(stopCh)
		events := 0
		count := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { events++ }}

		factory.Start(stopCh)
		if _, err := factory.Apps().V1().Deployments().Informer().AddEventHandler(count); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		t.Logf("Start, then Informer: %d events", events)
		if events != 0 {
			t.Errorf("%d events, want 0, because nothing has started the informer", events)
		}

		factory.Start(stopCh)
		synctest.Wait()
		t.Logf("another Start: %d event", events)
		if events != 1 {
			t.Errorf("%d events, want 1", events)
		}
	})
}

// Get has removed the key. Forget only resets its count of failures, and until Done, the queue
// doesn't hand the key out again.
func TestForgetWithoutDone(t *testing.T) {
	q := newQueue()
	defer q.ShutDown()
	key := types.NamespacedName{Namespace: "default", Name: "web"}
	waiting := func(when string, want int) {
		t.Helper()
		t.Logf("%s: %d keys are waiting, %d failures", when, q.Len(), q.NumRequeues(key))
		if q.Len() != want {
			t.Errorf("%s: %d keys are waiting, want %d", when, q.Len(), want)
		}
	}

	q.Add(key)
	waiting("Add", 1)
	q.Get()
	waiting("Get", 0)
	q.Forget(key)
	q.Add(key)
	waiting("Forget, and Add for the next event", 0)
	q.Done(key)
	waiting("Done", 1)
}

// Articles give the flag the default ~/.kube/config, so that the program "runs locally and in the
// cluster". But then it reads that file or none: not $KUBECONFIG, and not a Pod's own account.
func TestADefaultThatHidesTheRest(t *testing.T) {
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte(aKubeconfig), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("KUBECONFIG", kubeconfig)
	t.Setenv("KUBERNETES_SERVICE_HOST", "10.96.0.1") // as in a Pod
	t.Setenv("KUBERNETES_SERVICE_PORT", "443")
	home := t.TempDir()

	_, err := clientcmd.BuildConfigFromFlags("", filepath.Join(home, ".kube", "config"))
	t.Logf("older code: %v", err)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("older code: error %v, want one about a missing file", err)
	}
	config, err := loadConfig("")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("ours: %s", config.Host)
	if config.Host != "https://127.0.0.1:6443" {
		t.Errorf("ours: the server is %s", config.Host)
	}
}

const aKubeconfig = `
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443"}}]
contexts: [{name: c, context: {cluster: c}}]
current-context: c
`
