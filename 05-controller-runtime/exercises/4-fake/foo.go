// The Foo for which the reconcilers are called, and what a user does to it. You don't need to
// change anything here.

package judge

import (
	"context"
	"errors"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

// key is the Foo's key, and deploymentKey that of the Deployment it asks for.
var (
	key           = ctrl.Request{NamespacedName: types.NamespacedName{Namespace: "default", Name: "example"}}
	deploymentKey = client.ObjectKey{Namespace: "default", Name: "web"}
)

// NewFoo returns a Foo that asks for three replicas. It has a UID and a generation, because the
// fake client sets neither.
func NewFoo() *samplecontrollerv1alpha1.Foo {
	return &samplecontrollerv1alpha1.Foo{
		ObjectMeta: metav1.ObjectMeta{Namespace: key.Namespace, Name: key.Name, UID: "uid of example", Generation: 1},
		Spec:       samplecontrollerv1alpha1.FooSpec{DeploymentName: deploymentKey.Name, Replicas: new(int32(3))},
	}
}

// NewTerminatingFoo returns a Foo that is being deleted, with a finalizer. (Without one, it would
// be gone.)
func NewTerminatingFoo() *samplecontrollerv1alpha1.Foo {
	foo := NewFoo()
	foo.DeletionTimestamp, foo.Finalizers = &metav1.Time{Time: time.Unix(0, 0)}, []string{metav1.FinalizerDeleteDependents}
	foo.Generation++
	return foo
}

// Scale asks for that many replicas, as `kubectl scale` does. The spec changes, so the generation
// does, too.
func Scale(ctx context.Context, api client.Client, replicas int32) error {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := api.Get(ctx, key.NamespacedName, foo); err != nil {
		return err
	}
	foo.Spec.Replicas = &replicas
	foo.Generation++
	return api.Update(ctx, foo)
}

// newScheme returns the Go types that the client may use.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	if err := errors.Join(appsv1.AddToScheme(scheme), samplecontrollerv1alpha1.Install(scheme)); err != nil {
		panic(err) // two types have the same name
	}
	return scheme
}
