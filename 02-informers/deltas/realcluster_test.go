// What the informer prints on a real API server, when its watch is cut.

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
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
		refusal error  // the answer to the first attempt to resume the watch; nil: it works
		want    string // deltas and calls; the rest depends on how many deltas came at once
	}{
		"the server remembers": {nil, `
Deleted      web@2
  handler    OnDelete web@2
Added        web@3
  handler    OnAdd web@3 isInInitialList=false
Deleted      old@2
  handler    OnDelete old@2
`},
		"the server has forgotten": {apierrors.NewResourceExpired("too old resource version"), `
ReplacedAll  kube-root-ca.crt@1 web@2
  handler    OnDelete tombstone of old@1
  handler    OnUpdate web@1 -> web@2
`},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel() // each has to wait for the Reflector's backoff
			configMaps, lw := newNamespace(t)
			cut, restore := cuttable(lw)
			var printed output
			ctx, stop := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); newInformer(&printed, func() {}).run(ctx, lw) }()
			defer func() { stop(); <-ended }()
			// The server creates a kube-root-ca.crt in every namespace.
			printed.await(t, func(text string) bool { return strings.Contains(text, "OnAdd kube-root-ca.crt@") })
			create(t, configMaps, "old")
			create(t, configMaps, "web")
			printed.await(t, func(text string) bool { return strings.Contains(text, "OnAdd web@") })
			printed.clear()

			cut()
			must(t, configMaps.Delete(ctx, "web", metav1.DeleteOptions{}))
			create(t, configMaps, "web")
			must(t, configMaps.Delete(ctx, "old", metav1.DeleteOptions{}))
			restore(test.refusal)

			wantDeltas, wantCalls := split(test.want)
			text := printed.await(t, func(text string) bool {
				_, calls := split(text)
				return len(calls) == len(wantCalls)
			})
			fmt.Fprint(t.Output(), text)
			deltas, calls := split(counted(text))
			if diff := cmp.Diff(wantDeltas, deltas); diff != "" {
				t.Errorf("deltas (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(wantCalls, calls); diff != "" {
				t.Errorf("calls of handlers (-want +got):\n%s", diff)
			}
		})
	}
}

// newNamespace returns a client for the ConfigMaps of a new namespace, and the informer's requests.
func newNamespace(t *testing.T) (corev1client.ConfigMapInterface, *cache.ListWatch) {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
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

// cuttable makes it possible to cut lw's first watch. There is no other one until restore. With an
// error, restore refuses the first attempt.
func cuttable(lw *cache.ListWatch) (cut func(), restore func(refusal error)) {
	isCut, restored := make(chan struct{}), make(chan error, 1)
	open := lw.WatchFuncWithContext
	attempts := 0
	lw.WatchFuncWithContext = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		attempts++
		if attempts == 1 {
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

// forwardUntil returns a watch that ends when isCut is closed, as if the connection had been lost.
func forwardUntil(isCut <-chan struct{}, stream watch.Interface) watch.Interface {
	events := make(chan watch.Event)
	forwarded := watch.NewProxyWatcher(events)
	go func() {
		defer close(events)
		defer stream.Stop()
		for {
			select {
			case event := <-stream.ResultChan():
				select {
				case events <- event:
				case <-forwarded.StopChan():
					return
				}
			case <-isCut:
				return
			case <-forwarded.StopChan():
				return
			}
		}
	}()
	return forwarded
}

var version = regexp.MustCompile(`([a-z.-]+)@(\d+)`)

// split returns the deltas and the calls of handlers, but not those for kube-root-ca.crt, because
// the objects of a list have no certain order.
func split(text string) (deltas, calls []string) {
	for line := range strings.Lines(text) {
		switch step, _, _ := strings.Cut(strings.TrimSpace(line), " "); step {
		case "handler":
			if !strings.Contains(line, "kube-root-ca.crt") {
				calls = append(calls, line)
			}
		case "Added", "Updated", "Deleted", "ReplacedAll":
			deltas = append(deltas, line)
		}
	}
	return deltas, calls
}

// counted replaces the versions of each object by 1, 2 and so on.
func counted(text string) string {
	versions := map[string][]int{}
	for _, match := range version.FindAllStringSubmatch(text, -1) {
		number, _ := strconv.Atoi(match[2]) // digits only
		versions[match[1]] = append(versions[match[1]], number)
	}
	for name, all := range versions {
		slices.Sort(all)
		versions[name] = slices.Compact(all)
	}
	return version.ReplaceAllStringFunc(text, func(found string) string {
		name, digits, _ := strings.Cut(found, "@")
		number, _ := strconv.Atoi(digits)
		return fmt.Sprintf("%s@%d", name, slices.Index(versions[name], number)+1)
	})
}

// output is what an informer has printed.
type output struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	return o.text.Write(text)
}

func (o *output) clear() {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.text.Reset()
}

// await waits until the text is as it should be, and returns it. It fails the test after a minute.
func (o *output) await(t *testing.T, isComplete func(text string) bool) (text string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		o.lock.Lock()
		defer o.lock.Unlock()
		text = o.text.String()
		return isComplete(text), nil
	})
	if err != nil {
		t.Errorf("the output isn't complete: %v:\n%s", err, text)
	}
	return text
}
