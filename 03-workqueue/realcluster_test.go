// A real cluster for tests: a new namespace, and a controller for it. cluster_test.go has a cluster
// in memory.

package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

// realCluster is a controller for one namespace of a real server. It isn't started: tests call its
// functions.
type realCluster struct {
	*controller
	namespace string
	users     dynamic.ResourceInterface // Foos as users write them: the controller's own client can't
	t         *testing.T
}

func newRealCluster(t *testing.T) *realCluster {
	kubeconfig := os.Getenv("TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("set TEST_KUBECONFIG, for example to $(./scripts/workshop kubeconfig)")
	}
	config, err := loadConfig(kubeconfig)
	must(t, err)
	transport, err := rest.TransportFor(config) // the one that the clients will have
	must(t, err)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	kube, err := kubernetes.NewForConfig(config)
	must(t, err)
	users, err := dynamic.NewForConfig(config)
	must(t, err)
	foos, err := client.NewForConfig(config)
	must(t, err)
	if _, err := foos.Foos("").List(t.Context(), metav1.ListOptions{}); apierrors.IsNotFound(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	} else if err != nil {
		t.Fatal(err)
	}
	namespaces := kube.CoreV1().Namespaces()
	namespace, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "workqueue-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	controller, err := newController(t.Context(), foos, kube, namespace.Name, 0)
	must(t, err)
	controller.recorder = record.NewFakeRecorder(100)
	t.Cleanup(controller.queue.ShutDown)
	return &realCluster{controller, namespace.Name, users.Resource(foosResource).Namespace(namespace.Name), t}
}

// start runs the whole program, with leader election. stop shuts it down and waits until it exits.
func (c *realCluster) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() {
		ended <- run(ctx, options{
			kubeconfig: os.Getenv("TEST_KUBECONFIG"), namespace: c.namespace, workers: 2, leaderElect: true, leaseNamespace: c.namespace,
		})
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			c.t.Error(err)
		}
	})
	c.t.Cleanup(stop)
	return stop
}

// create creates a Foo from YAML.
func (c *realCluster) create(text string) {
	c.t.Helper()
	var foo unstructured.Unstructured
	must(c.t, yaml.Unmarshal([]byte(text), &foo.Object))
	_, err := c.users.Create(c.t.Context(), &foo, metav1.CreateOptions{})
	must(c.t, err)
}

// change changes the spec of the Foo named example, as kubectl patch does.
func (c *realCluster) change(spec string) {
	c.t.Helper()
	_, err := c.users.Patch(c.t.Context(), "example", types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	must(c.t, err)
}

// changeByHand patches a Deployment, as a user might with kubectl.
func (c *realCluster) changeByHand(deployment, patch string) {
	c.t.Helper()
	_, err := c.kube.AppsV1().Deployments(c.namespace).Patch(c.t.Context(), deployment, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	must(c.t, err)
}

// foo returns the Foo named example.
func (c *realCluster) foo(ctx context.Context) (*samplecontrollerv1alpha1.Foo, error) {
	list, err := c.foos.Foos(c.namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	if len(list.Items) != 1 {
		return nil, fmt.Errorf("%d Foos, want one", len(list.Items))
	}
	return &list.Items[0], nil
}

func (c *realCluster) deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(c.namespace).Get(ctx, name, metav1.GetOptions{})
}

// isReady returns a function that reports whether the Foo is ready with that many replicas.
func (c *realCluster) isReady(replicas int32) func(context.Context) bool {
	return func(ctx context.Context) bool {
		foo, err := c.foo(ctx)
		return err == nil && foo.Status.AvailableReplicas == replicas && foo.Status.ObservedGeneration == foo.Generation &&
			meta.IsStatusConditionTrue(foo.Status.Conditions, "Ready")
	}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(condition string, holds func(ctx context.Context) bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 100*time.Millisecond, time.Minute, true,
		func(ctx context.Context) (bool, error) { return holds(ctx), nil })
	if err != nil {
		c.t.Fatalf("still not true after a minute: %s", condition)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// errorOf returns the error of a function that returns something else, too.
func errorOf[T any](_ T, err error) error { return err }
