// A real cluster for tests: a new namespace, and a controller for it. cluster_test.go has a cluster
// in memory.

package main

import (
	"context"
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	"k8s.io/client-go/kubernetes"
	typedappsv1 "k8s.io/client-go/kubernetes/typed/apps/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
	"sigs.k8s.io/yaml"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
	"example.com/operators/04-codegen/pkg/generated/clientset/versioned"
	samplecontrollerv1alpha1client "example.com/operators/04-codegen/pkg/generated/clientset/versioned/typed/samplecontroller/v1alpha1"
)

// realCluster is a controller for one namespace of a real server. It isn't started: tests call its
// functions.
type realCluster struct {
	*controller
	namespace string
	users     samplecontrollerv1alpha1client.FooInterface // for Foos as users write them; the generated client has all requests
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
	foos, err := versioned.NewForConfig(config)
	must(t, err)
	if _, err := foos.SamplecontrollerV1alpha1().Foos("").List(t.Context(), metav1.ListOptions{}); apierrors.IsNotFound(err) {
		t.Fatal("the cluster has no Foos: kubectl apply -f manifests/crd.yaml")
	} else if err != nil {
		t.Fatal(err)
	}
	namespaces := kube.CoreV1().Namespaces()
	namespace, err := namespaces.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "codegen-"}}, metav1.CreateOptions{})
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
	return &realCluster{controller, namespace.Name, foos.SamplecontrollerV1alpha1().Foos(namespace.Name), t}
}

// create creates a Foo from YAML.
func (c *realCluster) create(text string) *samplecontrollerv1alpha1.Foo {
	c.t.Helper()
	var foo samplecontrollerv1alpha1.Foo
	must(c.t, yaml.UnmarshalStrict([]byte(text), &foo))
	created, err := c.users.Create(c.t.Context(), &foo, metav1.CreateOptions{})
	must(c.t, err)
	return created
}

// change changes the spec of the Foo named example, as kubectl patch does.
func (c *realCluster) change(spec string) {
	c.t.Helper()
	_, err := c.users.Patch(c.t.Context(), "example", types.MergePatchType, []byte(`{"spec":`+spec+`}`), metav1.PatchOptions{})
	must(c.t, err)
}

// changeByHand patches a Deployment or one of its subresources, as a user might with kubectl.
func (c *realCluster) changeByHand(deployment, patch string, subresource ...string) {
	c.t.Helper()
	_, err := c.kube.AppsV1().Deployments(c.namespace).Patch(c.t.Context(), deployment, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebody}, subresource...)
	must(c.t, err)
}

// createByHand creates a Deployment as somebody else.
func (c *realCluster) createByHand(deployment *appsv1.Deployment) {
	c.t.Helper()
	_, err := c.kube.AppsV1().Deployments(c.namespace).Create(c.t.Context(), deployment, metav1.CreateOptions{FieldManager: somebody})
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

// beforeApply makes the controller call do before each apply of a Deployment.
func (c *realCluster) beforeApply(do func()) {
	c.kube = watchedKube{c.kube, do}
}

// watchedKube is a client that calls beforeApply before each apply of a Deployment.
type watchedKube struct {
	kubernetes.Interface
	beforeApply func()
}

func (k watchedKube) AppsV1() typedappsv1.AppsV1Interface {
	return watchedApps{k.Interface.AppsV1(), k.beforeApply}
}

type watchedApps struct {
	typedappsv1.AppsV1Interface
	beforeApply func()
}

func (a watchedApps) Deployments(namespace string) typedappsv1.DeploymentInterface {
	return watchedDeployments{a.AppsV1Interface.Deployments(namespace), a.beforeApply}
}

type watchedDeployments struct {
	typedappsv1.DeploymentInterface
	beforeApply func()
}

func (d watchedDeployments) Apply(ctx context.Context, desired *appsv1ac.DeploymentApplyConfiguration, options metav1.ApplyOptions) (*appsv1.Deployment, error) {
	d.beforeApply()
	return d.DeploymentInterface.Apply(ctx, desired, options)
}

// foo returns the Foo named example.
func (c *realCluster) foo(ctx context.Context) (*samplecontrollerv1alpha1.Foo, error) {
	return c.users.Get(ctx, "example", metav1.GetOptions{})
}

func (c *realCluster) deployment(ctx context.Context, name string) (*appsv1.Deployment, error) {
	return c.kube.AppsV1().Deployments(c.namespace).Get(ctx, name, metav1.GetOptions{})
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
