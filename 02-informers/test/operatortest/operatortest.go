// Package operatortest has the helpers of the exercises' tests that need a real API server. They
// run your program in its own process and, like the judge, look only at the API server, so you can
// write the program any way you like. This file is the same in all chapters.
package operatortest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/jsonpath"
)

// asOperator is an environment variable. If it is set, the test binary runs as the operator.
const asOperator = "RUN_AS_OPERATOR"

// Main is what TestMain calls, with the program's main.
func Main(m *testing.M, main func()) {
	if os.Getenv(asOperator) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// T is the test of a stage, with a namespace of a real cluster and the operator that acts on it.
// Its methods name resources as kubectl does, such as "deployments", and fields as kubectl's
// jsonpath does, such as ".spec.replicas".
type T struct {
	*testing.T
	Client    dynamic.Interface
	Namespace string
	resources map[string]schema.GroupVersionResource // those outside of the core group
	log       *os.File                               // what the operator prints
	exited    chan struct{}                          // closed when the operator has exited
}

// Start applies the CRD in a file and starts the operator in a new namespace, with these flags
// besides --kubeconfig and --namespace. It returns the function that runs a stage, which is one
// thing that the operator has to do. Stages build on each other, so after a failure the others are
// skipped.
func Start(test *testing.T, crd string, flags ...string) (stage func(sentence string, run func(t *T))) {
	test.Helper()
	t := Connect(test)
	t.ApplyCRD(crd)
	t.startOperator(flags)
	failed := ""
	return func(sentence string, run func(t *T)) {
		test.Run(sentence, func(test *testing.T) {
			if failed != "" {
				test.Skipf("it comes after %q", failed)
			}
			before := len(t.printed())
			defer func() {
				if test.Failed() {
					failed = sentence
					test.Logf("the operator's log of this stage:\n%s", cmp.Or(t.printed()[before:], "(nothing)"))
				}
			}()
			stage := *t
			stage.T = test
			run(&stage)
		})
	}
}

// Connect returns a T without an operator. Its namespace is deleted when the test ends.
func Connect(test *testing.T) *T {
	test.Helper()
	t := &T{T: test, exited: make(chan struct{})}
	t.resources = map[string]schema.GroupVersionResource{"deployments": {Group: "apps", Version: "v1", Resource: "deployments"}}
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Fatal("this exercise needs a cluster: ./scripts/workshop up")
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	t.must(err)
	config.QPS = -1
	t.Client, err = dynamic.NewForConfig(config)
	t.must(err)
	t.log, err = os.Create(filepath.Join(t.TempDir(), "log"))
	t.must(err)
	namespaces := t.Client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	namespace, err := namespaces.Create(t.Context(), t.Object("{apiVersion: v1, kind: Namespace, metadata: {generateName: exercise-}}"), metav1.CreateOptions{})
	t.must(err)
	t.Namespace = namespace.GetName()
	t.Cleanup(func() {
		t.must(errors.Join(t.log.Close(), namespaces.Delete(context.Background(), t.Namespace, metav1.DeleteOptions{})))
	})
	return t
}

// ApplyCRD creates or updates the CRD that Object returns, and waits until it is served.
func (t *T) ApplyCRD(from string, set ...string) {
	t.Helper()
	crd := t.Object(from, set...)
	plural := value(crd, ".spec.names.plural")
	t.resources[plural] = schema.GroupVersionResource{Group: value(crd, ".spec.group"), Version: value(crd, ".spec.versions[0].name"), Resource: plural}
	crds := t.Client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := crds.Apply(t.Context(), crd.GetName(), crd, metav1.ApplyOptions{FieldManager: "operatortest", Force: true}); err != nil {
		t.Fatalf("the API server refuses the CRD: %v\n(If that is because of another chapter's CRD: ./scripts/workshop kubectl delete crd %s)", err, crd.GetName())
	}
	t.Eventually("the CRD is served", func() error {
		_, err := t.Resource(plural).List(t.Context(), metav1.ListOptions{})
		return err
	})
}

// startOperator runs this test binary as the operator, until the test ends.
func (t *T) startOperator(flags []string) {
	t.Helper()
	operator := exec.Command(os.Args[0], append(flags, "--kubeconfig="+os.Getenv("TEST_KUBECONFIG"), "--namespace="+t.Namespace)...)
	operator.Env = append(os.Environ(), asOperator+"=1")
	operator.Stdout, operator.Stderr = t.log, t.log
	t.must(operator.Start())
	go func() {
		_ = operator.Wait() // its log says why it exited
		close(t.exited)
	}()
	t.Cleanup(func() {
		_ = operator.Process.Signal(syscall.SIGTERM) // it may have exited already
		select {
		case <-t.exited:
		case <-time.After(10 * time.Second):
			_ = operator.Process.Kill()
			<-t.exited
			t.Error("the operator didn't exit within 10s of SIGTERM")
		}
	})
}

// printed returns what the operator has printed.
func (t *T) printed() string {
	log, _ := os.ReadFile(t.log.Name()) // empty if it can't be read
	return string(log)
}

// Eventually waits until check returns nil. It fails the test if the operator exits, or after half
// of the time that go test has left, but at most 15s.
func (t *T) Eventually(what string, check func() error) {
	t.Helper()
	limit := 15 * time.Second
	if end, bounded := t.Deadline(); bounded {
		limit = min(limit, time.Until(end)/2)
	}
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, limit, true, func(context.Context) (bool, error) {
		if last = check(); last == nil {
			return true, nil
		}
		select {
		case <-t.exited:
			lines := strings.Split(strings.TrimSpace(t.printed()), "\n")
			return false, fmt.Errorf("the operator has exited: %s", lines[len(lines)-1])
		default:
			return false, nil
		}
	})
	switch {
	case wait.Interrupted(err):
		t.Fatalf("%s: not within %v: %v", what, limit.Round(time.Second), last)
	case err != nil:
		t.Fatalf("%s: %v\n%v", what, last, err)
	}
}

// Resource returns a client for a resource in the test's namespace.
func (t *T) Resource(plural string) dynamic.ResourceInterface {
	core := schema.GroupVersionResource{Version: "v1", Resource: plural}
	return t.Client.Resource(cmp.Or(t.resources[plural], core)).Namespace(t.Namespace)
}

// Object reads an object from YAML, or from a file that ends with .yaml. Fields may be set to other
// values, as in "spec.replicas=3", or removed, as in "spec.replicas=".
func (t *T) Object(from string, set ...string) *unstructured.Unstructured {
	t.Helper()
	if strings.HasSuffix(from, ".yaml") {
		content, err := os.ReadFile(filepath.FromSlash(from))
		t.must(err)
		from = string(content)
	}
	object := &unstructured.Unstructured{}
	t.must(yaml.Unmarshal([]byte(from), &object.Object))
	for _, field := range set {
		dotted, text, _ := strings.Cut(field, "=")
		path := strings.Split(dotted, ".")
		var value any
		t.must(yaml.Unmarshal([]byte(text), &value))
		if value == nil {
			unstructured.RemoveNestedField(object.Object, path...)
			continue
		}
		t.must(unstructured.SetNestedField(object.Object, value, path...))
	}
	return object
}

// Create creates what Object returns, in the test's namespace.
func (t *T) Create(resource, from string, set ...string) {
	t.Helper()
	object := t.Object(from, set...)
	object.SetNamespace(t.Namespace)
	_, err := t.Resource(resource).Create(t.Context(), object, metav1.CreateOptions{})
	t.must(err)
}

// Patch changes an object, as kubectl patch --type=merge does.
func (t *T) Patch(resource, name, patch string, subresources ...string) {
	t.Helper()
	_, err := t.Resource(resource).Patch(t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresources...)
	t.must(err)
}

// Delete deletes an object.
func (t *T) Delete(resource, name string) {
	t.Helper()
	t.must(t.Resource(resource).Delete(t.Context(), name, metav1.DeleteOptions{}))
}

// Get returns the value of an object's field.
func (t *T) Get(resource, name, path string) string {
	t.Helper()
	object, err := t.Resource(resource).Get(t.Context(), name, metav1.GetOptions{})
	t.must(err)
	return value(object, path)
}

// Has waits until a field of an object has a value, as in Has("deployments", "a", ".spec.replicas",
// "3"). A missing field has the value "".
func (t *T) Has(resource, name, path, want string) {
	t.Helper()
	t.becomes(resource, name, path, fmt.Sprintf("has %q at %s", want, path), func(got string) bool { return got == want })
}

// Changes waits until a field of an object has another value than before.
func (t *T) Changes(resource, name, path, before string) {
	t.Helper()
	t.becomes(resource, name, path, fmt.Sprintf("has another %s than before", path), func(got string) bool { return got != "" && got != before })
}

// HasCondition waits until an object has a condition whose status and reason begin as in want, such
// as "True" or "False Refused".
func (t *T) HasCondition(resource, name, condition, want string) {
	t.Helper()
	path := fmt.Sprintf(".status.conditions[?(@.type==%q)]['status','reason','message']", condition)
	t.becomes(resource, name, path, fmt.Sprintf("has the condition %s: %s", condition, want), func(got string) bool { return strings.HasPrefix(got, want) })
}

// IsOwnedBy waits until an object's controller reference names that owner, such as "Foo foo".
func (t *T) IsOwnedBy(resource, name, owner string) {
	t.Helper()
	const path = ".metadata.ownerReferences[?(@.controller==true)]['kind','name']"
	t.becomes(resource, name, path, "is controlled by "+owner, func(got string) bool { return got == owner })
}

// becomes waits until a field of an object is as wanted. A missing object isn't.
func (t *T) becomes(resource, name, path, what string, wanted func(got string) bool) {
	t.Helper()
	t.Eventually(fmt.Sprintf("%s %q %s", resource, name, what), func() error {
		object, err := t.Resource(resource).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if got := value(object, path); !wanted(got) {
			return fmt.Errorf("it is %q", got)
		}
		return nil
	})
}

// IsGone waits until there is no such object, or only one that is being deleted.
func (t *T) IsGone(resource, name string) {
	t.Helper()
	t.Eventually(fmt.Sprintf("%s %q is deleted", resource, name), func() error {
		object, err := t.Resource(resource).Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
			return nil
		}
		return errors.Join(err, errors.New("it is still there"))
	})
}

// value returns the value at a path as kubectl's jsonpath prints it.
func value(object *unstructured.Unstructured, path string) string {
	var text strings.Builder
	query := jsonpath.New("").AllowMissingKeys(true)
	if err := errors.Join(query.Parse("{"+path+"}"), query.Execute(&text, object.Object)); err != nil {
		return err.Error()
	}
	return text.String()
}

func (t *T) must(err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
