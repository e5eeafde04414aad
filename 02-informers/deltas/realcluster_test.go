// What the informer prints on a real API server, when its watch is cut.

package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// While the watch is cut, web is deleted and created again, and old is deleted. The server sends
// these changes later. If it has forgotten them, the Reflector lists, and a list doesn't show that
// there are two webs.
func TestACutWatch(t *testing.T) {
	for sentence, test := range map[string]struct {
		refusal error    // the answer to the first attempt to resume the watch; nil: it works
		want    []string // the calls of handlers
	}{
		"the server remembers": {
			nil,
			[]string{"OnDelete web", "OnAdd web isInInitialList=false", "OnDelete old"},
		},
		"the server has forgotten": {
			apierrors.NewResourceExpired("too old resource version"),
			[]string{"OnDelete tombstone of old", "OnUpdate web -> web"},
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel() // each has to wait for the Reflector's backoff
			configMaps, lw := newNamespace(t)
			cut, restore := cuttable(lw)
			printed := make(printer, 100)
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); newInformer(printed, func() {}).run(ctx, lw) }()
			defer func() { stop(); <-ended }()
			printed.until(t, "OnAdd kube-root-ca.crt@") // the server creates one in every namespace
			create(t, configMaps, "old")
			create(t, configMaps, "web")
			printed.until(t, "OnAdd web@")

			cut()
			must(t, configMaps.Delete(ctx, "web", metav1.DeleteOptions{}))
			create(t, configMaps, "web")
			must(t, configMaps.Delete(ctx, "old", metav1.DeleteOptions{}))
			restore(test.refusal)

			last, _, _ := strings.Cut(test.want[len(test.want)-1], " ->")
			lines := printed.until(t, last+"@")
			fmt.Fprint(t.Output(), strings.Join(lines, ""))
			if diff := cmp.Diff(test.want, calls(lines)); diff != "" {
				t.Errorf("calls of handlers (-want +got):\n%s", diff)
			}
		})
	}
}

// newNamespace returns a client for the ConfigMaps of a new namespace, and the informer's requests.
func newNamespace(t *testing.T) (corev1client.ConfigMapInterface, *cache.ListWatch) {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG to the path of the kubeconfig of a disposable cluster")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	namespace, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "deltas-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := client.CoreV1().Namespaces().Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	lw, err := configMaps(kubeconfig, namespace.Name)
	must(t, err)
	return client.CoreV1().ConfigMaps(namespace.Name), lw
}

func create(t *testing.T, configMaps corev1client.ConfigMapInterface, name string) {
	t.Helper()
	_, err := configMaps.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	must(t, err)
}

// cuttable makes it possible to cut lw's first watch, as if the connection had been lost. There is
// no other one until restore. With an error, restore refuses the first attempt.
func cuttable(lw *cache.ListWatch) (cut func(), restore func(refusal error)) {
	isCut, restored := make(chan struct{}), make(chan error, 1)
	open, attempts := lw.WatchFuncWithContext, 0
	lw.WatchFuncWithContext = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		if attempts++; attempts == 1 {
			stream, err := open(ctx, options)
			if err != nil {
				return nil, err
			}
			return forwardUntil(isCut, stream), nil
		}
		select {
		case err := <-restored: // nil once it is closed
			if err != nil {
				return nil, err
			}
			return open(ctx, options)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	cut = func() { close(isCut) }
	restore = func(refusal error) {
		if refusal != nil {
			restored <- refusal
		}
		close(restored)
	}
	return cut, restore
}

func forwardUntil(isCut <-chan struct{}, stream watch.Interface) watch.Interface {
	events := make(chan watch.Event)
	go func() {
		defer close(events)
		defer stream.Stop()
		for {
			select {
			case event, isOpen := <-stream.ResultChan():
				if !isOpen {
					return
				}
				events <- event
			case <-isCut:
				return
			}
		}
	}()
	return watch.NewProxyWatcher(events)
}

// printer gets the lines that an informer prints.
type printer chan string

func (p printer) Write(line []byte) (int, error) { p <- string(line); return len(line), nil }

// until returns the lines up to one that contains a text.
func (p printer) until(t *testing.T, text string) (lines []string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case line := <-p:
			lines = append(lines, line)
			if strings.Contains(line, text) {
				return lines
			}
		case <-timeout:
			t.Fatalf("after a minute, the informer hasn't printed %q", text)
		}
	}
}

var version = regexp.MustCompile(`@\d+`)

// calls returns the calls of handlers without versions, and without those for kube-root-ca.crt.
func calls(lines []string) (calls []string) {
	for _, line := range lines {
		if step, call, _ := strings.Cut(strings.TrimSpace(line), " "); step == "handler" && !strings.Contains(call, "kube-root-ca.crt") {
			calls = append(calls, version.ReplaceAllString(strings.TrimSpace(call), ""))
		}
	}
	return calls
}
