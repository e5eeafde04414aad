//go:build solution

package tests

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
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
	testInterference,
	testSomebodyElses,
	testNothingToDo,
}

// testCreate checks that a missing Deployment is created, and whose it is.
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
	if !metav1.IsControlledBy(web, foo) {
		t.Errorf("the Deployment's owners are %v, want the Foo", web.OwnerReferences)
	}
}

// testInterference checks that the Foo's replicas come back after somebody else has changed them,
// and that somebody's label stays.
func testInterference(t T, kube *fake.Clientset, foo *samplecontrollerv1alpha1.Foo, sync Sync) {
	deployments := kube.AppsV1().Deployments("default")
	if err := sync(t.Context(), deployments, foo); err != nil {
		t.Fatalf("sync returned the error %v", err)
	}
	theirs := appsv1ac.Deployment("web", "default").WithLabels(map[string]string{"team": "blue"}).
		WithSpec(appsv1ac.DeploymentSpec().WithReplicas(9))
	if _, err := deployments.Apply(t.Context(), theirs, metav1.ApplyOptions{FieldManager: "somebody", Force: true}); err != nil {
		t.Fatalf("apply as somebody else: %v", err)
	}

	if err := sync(t.Context(), deployments, foo); err != nil {
		t.Errorf("after somebody else's change, sync returned the error %v", err)
	}

	web, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("get the Deployment: %v", err)
	}
	if *web.Spec.Replicas != 2 || web.Labels["team"] != "blue" {
		t.Errorf("the Deployment has %d replicas and the labels %v, want 2, and team: blue", *web.Spec.Replicas, web.Labels)
	}
}

// testSomebodyElses checks that a Deployment stays as it is if another Foo controls it.
func testSomebodyElses(t T, kube *fake.Clientset, foo *samplecontrollerv1alpha1.Foo, sync Sync) {
	deployments := kube.AppsV1().Deployments("default")
	other := foo.DeepCopy()
	other.Name, other.UID, *other.Spec.Replicas = "other", types.UID("other"), 5
	if err := right(t.Context(), deployments, other); err != nil {
		t.Fatalf("create the other Foo's Deployment: %v", err)
	}

	if err := sync(t.Context(), deployments, foo); err != nil {
		t.Errorf("sync returned the error %v, want none, because a retry wouldn't help", err)
	}

	web, err := deployments.Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatalf("get the Deployment: %v", err)
	}
	if *web.Spec.Replicas != 5 || !metav1.IsControlledBy(web, other) {
		t.Errorf("the other Foo's Deployment has %d replicas and the owners %v, want no change", *web.Spec.Replicas, web.OwnerReferences)
	}
}

// testNothingToDo checks that a second call writes nothing.
func testNothingToDo(t T, kube *fake.Clientset, foo *samplecontrollerv1alpha1.Foo, sync Sync) {
	for call := range 2 {
		kube.ClearActions()
		if err := sync(t.Context(), kube.AppsV1().Deployments("default"), foo); err != nil {
			t.Fatalf("sync returned the error %v", err)
		}
		for _, action := range kube.Actions() {
			if call == 1 && action.GetVerb() != "get" {
				t.Errorf("the second call sent: %s", fmt.Sprint(action.GetVerb(), " ", action.GetResource().Resource))
			}
		}
	}
}
