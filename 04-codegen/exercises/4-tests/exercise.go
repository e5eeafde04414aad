//go:build !solution

package tests

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	samplecontrollerv1alpha1 "example.com/operators/04-codegen/pkg/apis/samplecontroller/v1alpha1"
)

// T is the part of *testing.T that your tests may use. Fatalf ends the test.
type T interface {
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Tests each get an empty fake API server, the Foo web in the namespace default, which asks for two
// replicas of the Deployment web, and the Sync that they test. For a Sync that keeps its promises,
// no test may report an error. For each one that breaks a promise, at least one test must.
var Tests = []func(t T, kube *fake.Clientset, foo *samplecontrollerv1alpha1.Foo, sync Sync){
	testCreate,
	// YOUR WORK: this single test accepts even a Sync that breaks a promise.
}

// testCreate checks that a missing Deployment is created.
func testCreate(t T, kube *fake.Clientset, foo *samplecontrollerv1alpha1.Foo, sync Sync) {
	deployments := kube.AppsV1().Deployments("default")
	if err := sync(t.Context(), deployments, foo); err != nil {
		t.Fatalf("sync returned the error %v", err)
	}
	web, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("the Deployment wasn't created: %v", err)
	}
	if *web.Spec.Replicas != 2 {
		t.Errorf("the Deployment has %d replicas, want 2", *web.Spec.Replicas)
	}
}
