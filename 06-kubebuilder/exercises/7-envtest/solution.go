//go:build solution

// Package envtests has tests that use envtest, which is a real API server and nothing else.
package envtests

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// StartServer starts an API server that accepts Foos, and returns how to reach it. Its programs,
// kube-apiserver and etcd, are in the folder assets. stop shuts both down. If there is no CRD to
// install, StartServer returns an error.
func StartServer(assets string) (config *rest.Config, stop func() error, err error) {
	environment := &envtest.Environment{
		BinaryAssetsDirectory: assets,
		CRDDirectoryPaths:     []string{"../../config/crd/bases"},
		ErrorIfCRDPathMissing: true,
	}
	config, err = environment.Start()
	return config, environment.Stop, err
}

// T is the part of *testing.T that your tests may use. It has no Fatalf, so return if a test can't
// go on after an error.
type T interface {
	Context() context.Context
	Errorf(format string, args ...any)
}

// Each test in Tests gets a client of that API server, a namespace of its own, and a reconciler to
// test. For a reconciler that keeps its promises, no test may report an error. For each reconciler
// that breaks one, at least one test must.
var Tests = []func(t T, c client.Client, namespace string, reconcile Reconcile){
	testCreate, testScaledByOthers, testNewLabels, testOthersDeployment, testStatus,
}

// testCreate checks that a new Foo gets its Deployment.
func testCreate(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	create(t, c, foo)
	call(t, c, reconcile, foo)
	if deployment := deploymentOf(t, c, foo); deployment == nil || *deployment.Spec.Replicas != 2 {
		t.Errorf("the Deployment is %v, want one with 2 replicas", deployment)
	}
}

// testScaledByOthers checks the first promise. Anyone who changes a field by an update becomes
// its owner, so an apply without force gets a conflict.
func testScaledByOthers(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	create(t, c, foo)
	call(t, c, reconcile, foo)
	deployment := deploymentOf(t, c, foo)
	if deployment == nil {
		return
	}
	deployment.Spec.Replicas = new(int32(7))
	if err := c.Update(t.Context(), deployment); err != nil {
		t.Errorf("scale the Deployment: %v", err)
	}
	call(t, c, reconcile, foo)
	if scaled := deploymentOf(t, c, foo); scaled == nil || *scaled.Spec.Replicas != 2 {
		t.Errorf("somebody has scaled the Deployment to 7, and it stays so, want 2")
	}
}

// testNewLabels checks the second promise. A Deployment's selector can't be changed.
func testNewLabels(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	create(t, c, foo)
	call(t, c, reconcile, foo)
	foo.Labels = map[string]string{"team": "blue"}
	if err := c.Patch(t.Context(), foo, client.RawPatch("application/merge-patch+json", []byte(`{"metadata": {"labels": {"team": "blue"}}}`))); err != nil {
		t.Errorf("label the Foo: %v", err)
	}
	call(t, c, reconcile, foo)
	if deployment := deploymentOf(t, c, foo); deployment == nil || deployment.Spec.Template.Labels["team"] != "blue" {
		t.Errorf("the Foo has the new label team=blue, and its Pods don't get it")
	}
}

// testOthersDeployment checks the third promise.
func testOthersDeployment(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	create(t, c, foo)
	labels := map[string]string{"controller": "web"}
	create(t, c, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: foo.Spec.DeploymentName},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32(5)),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "nginx", Image: "nginx"}}},
			},
		},
	})
	call(t, c, reconcile, foo)
	if deployment := deploymentOf(t, c, foo); deployment == nil || *deployment.Spec.Replicas != 5 || len(deployment.OwnerReferences) > 0 {
		t.Errorf("somebody else's Deployment is now %v, want no change", deployment)
	}
}

// testStatus checks the last two promises. Only the API server knows that the status is a
// subresource, and that each condition has an owner.
func testStatus(t T, c client.Client, namespace string, reconcile Reconcile) {
	foo := newFoo(namespace)
	create(t, c, foo)
	foo.Status.Conditions = []metav1.Condition{{
		Type: "Blessed", Status: metav1.ConditionTrue, Reason: "ByHand", LastTransitionTime: metav1.Now(),
	}}
	if err := c.Status().Update(t.Context(), foo); err != nil {
		t.Errorf("write another condition: %v", err)
	}
	call(t, c, reconcile, foo)
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(foo), foo); err != nil {
		t.Errorf("get the Foo: %v", err)
	}
	for _, condition := range []string{"Ready", "Blessed"} {
		if meta.FindStatusCondition(foo.Status.Conditions, condition) == nil {
			t.Errorf("the status has no condition %s", condition)
		}
	}
}

func create(t T, c client.Client, object client.Object) {
	if err := c.Create(t.Context(), object); err != nil {
		t.Errorf("create: %v", err)
	}
}

func call(t T, c client.Client, reconcile Reconcile, foo *samplecontrollerv1alpha1.Foo) {
	if err := reconcile(t.Context(), c, client.ObjectKeyFromObject(foo)); err != nil {
		t.Errorf("Reconcile returned the error: %v", err)
	}
}
