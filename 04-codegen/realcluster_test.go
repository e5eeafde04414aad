// A real cluster for tests: a new namespace, and a controller for it. cluster_test.go has a cluster
// in memory.

package main

import (
	"context"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	samplecontrollerv1alpha1client "example.com/operators/04-codegen/pkg/generated/clientset/versioned/typed/samplecontroller/v1alpha1"
)

// realCluster is a controller for one namespace of a real server. It isn't started: tests call its
// functions.
type realCluster struct {
	*controller
	namespace   string
	users       samplecontrollerv1alpha1client.FooInterface // for Foos as users write them; the generated client has all requests
	beforeApply func()                                      // called before each apply of a Deployment by the controller
	t           *testing.T
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
	c := &realCluster{beforeApply: func() {}, t: t}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return interceptor{c, next} })
	kube, err := kubernetes.NewForConfig(config)
	must(t, err)
	foos, err := versioned.NewForConfig(config)
	must(t, err)
	if _, err := foos.SamplecontrollerV1alpha1().Foos("").List(t.Context(), metav1.ListOptions{}); apierrors.IsNotFound(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	}
	namespaces := kube.CoreV1().Namespaces()
	namespace, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "codegen-"}}, metav1.CreateOptions{})
	must(t, err)
	t.Cleanup(func() {
		if err := namespaces.Delete(context.Background(), namespace.Name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
	c.controller = newTestController(t, foos, kube, namespace.Name)
	c.namespace, c.users = namespace.Name, foos.SamplecontrollerV1alpha1().Foos(namespace.Name)
	return c
}

// interceptor is the transport of all requests.
type interceptor struct {
	c    *realCluster
	next http.RoundTripper
}

func (i interceptor) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/deployments/") && r.URL.Query().Get("fieldManager") == fieldOwner {
		i.c.beforeApply()
	}
	return i.next.RoundTrip(r)
}

// create creates a Foo, and returns it as it is stored.
func (c *realCluster) create(foo *samplecontrollerv1alpha1.Foo) *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	foo.Namespace = c.namespace
	created, err := c.users.Create(c.t.Context(), foo, metav1.CreateOptions{})
	must(c.t, err)
	return created
}

// foo returns the Foo named example.
func (c *realCluster) foo() *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	foo, err := c.users.Get(c.t.Context(), "example", metav1.GetOptions{})
	must(c.t, err)
	return foo
}

// apply applies the Deployment that foo asks for, as if there were none.
func (c *realCluster) apply(foo *samplecontrollerv1alpha1.Foo) *appsv1.Deployment {
	c.t.Helper()
	deployment, err := c.createDeployment(c.t.Context(), desiredDeployment(foo))
	must(c.t, err)
	return deployment
}

// web returns the Deployment of that name.
func (c *realCluster) web() *appsv1.Deployment {
	c.t.Helper()
	web, err := c.kube.AppsV1().Deployments(c.namespace).Get(c.t.Context(), "web", metav1.GetOptions{})
	must(c.t, err)
	return web
}

// changeByHand patches the Deployment web or one of its subresources, as a user might with kubectl.
func (c *realCluster) changeByHand(patch string, subresource ...string) {
	c.t.Helper()
	_, err := c.kube.AppsV1().Deployments(c.namespace).Patch(c.t.Context(), "web", types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebody}, subresource...)
	must(c.t, err)
}

// createByHand creates a Deployment as that field manager.
func (c *realCluster) createByHand(deployment *appsv1.Deployment, manager string) {
	c.t.Helper()
	_, err := c.kube.AppsV1().Deployments(c.namespace).Create(c.t.Context(), deployment, metav1.CreateOptions{FieldManager: manager})
	must(c.t, err)
}

// ofAConfigMap makes a ConfigMap the controller of a Deployment. It creates the ConfigMap, because
// the garbage collector deletes a Deployment whose owner doesn't exist.
func (c *realCluster) ofAConfigMap(deployment *appsv1.Deployment) {
	c.t.Helper()
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "owner-"}}
	owner, err := c.kube.CoreV1().ConfigMaps(c.namespace).Create(c.t.Context(), owner, metav1.CreateOptions{})
	must(c.t, err)
	deployment.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
}

// eventually waits until a condition holds, and fails the test if that takes too long.
func (c *realCluster) eventually(condition string, holds func() bool) {
	c.t.Helper()
	err := wait.PollUntilContextTimeout(c.t.Context(), 100*time.Millisecond, time.Minute, true,
		func(context.Context) (bool, error) { return holds(), nil })
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
