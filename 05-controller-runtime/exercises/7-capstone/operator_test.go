//go:build check || solution

// Helpers for the capstones' tests. They run your program in its own process and, like the judge,
// look only at the API server, so you can write the program any way you like. This file is the same
// in all capstones.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
)

// asOperator is an environment variable. If it is set, the test binary runs as the operator.
const asOperator = "RUN_AS_OPERATOR"

func TestMain(m *testing.M) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// The resources that the tests look at.
var (
	crds        = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	namespaces  = schema.GroupVersionResource{Version: "v1", Resource: "namespaces"}
	configMaps  = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	services    = schema.GroupVersionResource{Version: "v1", Resource: "services"}
	pods        = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
	deployments = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "deployments"}
)

// No capstone uses all of these helpers.
var _ = []any{
	configMaps, services, pods, deployments,
	(*world).patch, (*world).delete, (*world).isGone, (*world).isReplaced, (*world).isOwnedBy, (*world).hasCondition,
}

// world is a namespace of a real cluster, and the operator that acts on it.
type world struct {
	client    dynamic.Interface
	namespace string
	log       *logBuffer
	exited    chan struct{} // closed when the operator has exited
}

// stage is one thing that the operator has to do. Stages run in order, and build on each other.
type stage struct {
	sentence string
	run      func(t *testing.T, w *world)
}

// runStages starts the operator in a new namespace, and runs the stages until one fails. The others
// are skipped, so that only one is red at a time.
func runStages(t *testing.T, crd string, stages []stage) {
	w := startWorld(t, crd)
	failed := ""
	for _, s := range stages {
		t.Run(s.sentence, func(t *testing.T) {
			if failed != "" {
				t.Skipf("it comes after %q", failed)
			}
			before := len(w.log.String())
			t.Cleanup(func() {
				if log := w.log.String()[before:]; t.Failed() && log != "" {
					t.Logf("the operator's log of this stage:\n%s", log)
				}
			})
			s.run(t, w)
		})
		if failed == "" && t.Failed() {
			failed = s.sentence
		}
	}
}

// startWorld applies the CRD, and runs the operator in its own namespace until the test ends.
func startWorld(t *testing.T, crd string) *world {
	t.Helper()
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("this exercise needs a cluster: ./scripts/workshop up")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatalf("TEST_KUBECONFIG: %v", err)
	}
	config.QPS = -1
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{client: client, log: &logBuffer{}, exited: make(chan struct{})}
	w.applyCRD(t, crd)
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"generateName": "capstone-"},
	}}
	if namespace, err = client.Resource(namespaces).Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	w.namespace = namespace.GetName()
	t.Cleanup(func() {
		_ = client.Resource(namespaces).Delete(context.Background(), w.namespace, metav1.DeleteOptions{})
	})
	w.startOperator(t, "--kubeconfig="+kubeconfig, "--namespace="+w.namespace)
	return w
}

// applyCRD creates a CRD, unless there is one with that name, and waits until it is served.
func (w *world) applyCRD(t *testing.T, file string) {
	t.Helper()
	crd := readYAML(t, file)
	_, err := w.client.Resource(crds).Create(t.Context(), crd, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatalf("%s: %v", file, err)
	}
	eventually(t, w, "the CRD is served", func() error {
		found, err := w.client.Resource(crds).Get(t.Context(), crd.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(found.Object, "status", "conditions")
		for _, condition := range conditions {
			if c, _ := condition.(map[string]any); c["type"] == "Established" && c["status"] == "True" {
				return nil
			}
		}
		return errors.New("it isn't established")
	})
}

// startOperator runs this test binary as the operator, until the test ends.
func (w *world) startOperator(t *testing.T, args ...string) {
	t.Helper()
	operator := exec.Command(os.Args[0], args...)
	operator.Env = append(os.Environ(), asOperator+"=1")
	operator.Stdout, operator.Stderr = w.log, w.log
	if err := operator.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = operator.Wait() // its log says why it exited
		close(w.exited)
	}()
	t.Cleanup(func() {
		_ = operator.Process.Signal(syscall.SIGTERM) // it may have exited already
		select {
		case <-w.exited:
		case <-time.After(10 * time.Second):
			_ = operator.Process.Kill()
			<-w.exited
			t.Error("the operator didn't exit within 10s of SIGTERM")
		}
	})
}

// eventually waits until check returns nil. It fails the test if the operator exits, or after half
// of the time that go test has left, but at most 15s.
func eventually(t *testing.T, w *world, what string, check func() error) {
	t.Helper()
	limit := 15 * time.Second
	if end, bounded := t.Deadline(); bounded {
		limit = min(limit, time.Until(end)/2)
	}
	for end := time.Now().Add(limit); ; time.Sleep(50 * time.Millisecond) {
		err := check()
		switch {
		case err == nil:
			return
		case time.Now().After(end):
			t.Fatalf("%s: not within %v: %v", what, limit.Round(time.Second), err)
		}
		select {
		case <-w.exited:
			t.Fatalf("%s: %v\nthe operator has exited: %s", what, err, lastLine(w.log.String()))
		default:
		}
	}
}

// create creates an object from a YAML file. If change isn't nil, it may edit the object first.
func (w *world) create(t *testing.T, resource schema.GroupVersionResource, file string, change func(object map[string]any)) {
	t.Helper()
	object := readYAML(t, file)
	if change != nil {
		change(object.Object)
	}
	if _, err := w.client.Resource(resource).Namespace(w.namespace).Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// patch changes an object, as kubectl patch --type=merge does.
func (w *world) patch(t *testing.T, resource schema.GroupVersionResource, name, patch string) {
	t.Helper()
	_, err := w.client.Resource(resource).Namespace(w.namespace).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func (w *world) delete(t *testing.T, resource schema.GroupVersionResource, name string) {
	t.Helper()
	if err := w.client.Resource(resource).Namespace(w.namespace).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (w *world) get(t *testing.T, resource schema.GroupVersionResource, name string) (*unstructured.Unstructured, error) {
	return w.client.Resource(resource).Namespace(w.namespace).Get(t.Context(), name, metav1.GetOptions{})
}

// has waits until a field of an object has a value, as in
// has(t, deployments, "a", 3, "spec", "replicas"). In a list, the path has the index, such as "0".
// A value of nil means that there is no such field.
func (w *world) has(t *testing.T, resource schema.GroupVersionResource, name string, want any, path ...string) {
	t.Helper()
	what := fmt.Sprintf("%s %q has the value %v at %s", resource.Resource, name, want, strings.Join(path, "."))
	eventually(t, w, what, func() error {
		object, err := w.get(t, resource, name)
		if err != nil {
			return err
		}
		if got := field(object.Object, path); toJSON(got) != toJSON(want) {
			return fmt.Errorf("it is %s", toJSON(got))
		}
		return nil
	})
}

// hasCondition waits until an object has a condition with that status.
func (w *world) hasCondition(t *testing.T, resource schema.GroupVersionResource, name, condition, status string) {
	t.Helper()
	eventually(t, w, fmt.Sprintf("%s %q has the condition %s=%s", resource.Resource, name, condition, status), func() error {
		object, err := w.get(t, resource, name)
		if err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
		for _, one := range conditions {
			if c, _ := one.(map[string]any); c["type"] == condition && c["status"] == status {
				return nil
			}
		}
		return fmt.Errorf("its conditions are %s", toJSON(conditions))
	})
}

// isGone waits until there is no such object, or only one that is being deleted.
func (w *world) isGone(t *testing.T, resource schema.GroupVersionResource, name string) {
	t.Helper()
	eventually(t, w, fmt.Sprintf("%s %q is deleted", resource.Resource, name), func() error {
		object, err := w.get(t, resource, name)
		if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
}

// isReplaced waits until an object has a new UID, so it was deleted and created again.
func (w *world) isReplaced(t *testing.T, resource schema.GroupVersionResource, name string, before types.UID) {
	t.Helper()
	eventually(t, w, fmt.Sprintf("%s %q is created again", resource.Resource, name), func() error {
		object, err := w.get(t, resource, name)
		if err == nil && object.GetUID() == before {
			return errors.New("it still has its old UID")
		}
		return err
	})
}

// isOwnedBy waits until an object's controller reference names that owner.
func (w *world) isOwnedBy(t *testing.T, resource schema.GroupVersionResource, name, ownerKind, ownerName string) {
	t.Helper()
	eventually(t, w, fmt.Sprintf("%s %q is controlled by %s %q", resource.Resource, name, ownerKind, ownerName), func() error {
		object, err := w.get(t, resource, name)
		if err != nil {
			return err
		}
		owner := metav1.GetControllerOf(object)
		if owner == nil || owner.Kind != ownerKind || owner.Name != ownerName {
			return fmt.Errorf("its controller is %s", toJSON(owner))
		}
		return nil
	})
}

// field returns the value at that path, or nil if there is none.
func field(value any, path []string) any {
	for _, name := range path {
		switch node := value.(type) {
		case map[string]any:
			value = node[name]
		case []any:
			value = nil
			for i, element := range node {
				if fmt.Sprint(i) == name {
					value = element
				}
			}
		default:
			return nil
		}
	}
	return value
}

func toJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

func readYAML(t *testing.T, file string) *unstructured.Unstructured {
	t.Helper()
	content, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(content, &object.Object); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return object
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSpace(log), "\n")
	return lines[len(lines)-1]
}

// logBuffer is a log that one goroutine can write while another one reads it.
type logBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *logBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
