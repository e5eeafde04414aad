// A real cluster for tests: a new namespace, and a controller for it. cluster_test.go has a
// controller with fakes.

package main

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/03-workqueue/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/03-workqueue/pkg/client"
)

var foosResource = samplecontrollerv1alpha1.GroupVersion.WithResource("foos")

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
		t.Skip("set TEST_KUBECONFIG to the path of the kubeconfig of a disposable cluster")
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
	}
	namespaces := kube.CoreV1().Namespaces()
	namespace, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "workqueue-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	controller, _ := newTestController(t, foos, kube, namespace.Name)
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

// create creates a Foo, and returns it as it is stored.
func (c *realCluster) create(foo *samplecontrollerv1alpha1.Foo) *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	foo.Namespace = c.namespace
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(foo)
	must(c.t, err)
	_, err = c.users.Create(c.t.Context(), &unstructured.Unstructured{Object: content}, metav1.CreateOptions{})
	must(c.t, err)
	return c.foo()
}

// foo returns the only Foo.
func (c *realCluster) foo() *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	list, err := c.foos.Foos(c.namespace).List(c.t.Context(), metav1.ListOptions{})
	must(c.t, err)
	return &list.Items[0]
}

func (c *realCluster) deployment(name string) *appsv1.Deployment {
	c.t.Helper()
	deployment, err := c.kube.AppsV1().Deployments(c.namespace).Get(c.t.Context(), name, metav1.GetOptions{})
	must(c.t, err)
	return deployment
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
