//go:build !solution

// Package webhook is about what a webhook should refuse, warn about, and let pass.
package webhook

import (
	"context"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// FooDefaulter sets a field that the user left out. It never changes a field that the user set.
type FooDefaulter struct{}

var _ admission.Defaulter[*samplecontrollerv1alpha1.Foo] = FooDefaulter{}

// Default sets a missing deploymentName to the Foo's own name. It leaves replicas alone. The
// schema's default, 1, is set before this is called, so Default can't tell it from a 1 that the
// user set. It doesn't change a Foo that is being deleted.
func (FooDefaulter) Default(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	// YOUR WORK: this overrides what the user set.
	foo.Spec.DeploymentName = foo.Name
	if *foo.Spec.Replicas < 2 {
		foo.Spec.Replicas = new(int32(2))
	}
	return nil
}

// FooValidator refuses a Foo that breaks a rule, warns about one that is unwise, and lets all
// others pass. Its messages to users are in texts.go.
//
// There are two rules. A deploymentName must not begin with "platform-". And all Foos in a
// namespace together may ask for at most 20 replicas. Foos that are being deleted don't count, and
// a Foo without replicas counts as 1.
//
// A refusal is the API's error Invalid. It lists all wrong fields at once, each as a cause with
// advice. It must not be based on an old cache: if the cache says that there is no room for the
// replicas, the validator asks the API server before it refuses. If the cache says that there is
// room, it doesn't ask. If a read fails, it returns the API's InternalError.
//
// It warns about a single replica, and about the Deployment that will be deleted with its Foo. A
// refusal comes without warnings.
//
// It writes nothing. Its configuration promises this (sideEffects=None), so the API server calls it
// for dry runs, too. And a Foo that passes here may still be refused by another webhook.
type FooValidator struct {
	client.Client               // reads from the cache, writes to the API server
	APIReader     client.Reader // reads from the API server
}

var _ admission.Validator[*samplecontrollerv1alpha1.Foo] = &FooValidator{}

// ValidateCreate validates a new Foo.
func (v *FooValidator) ValidateCreate(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: this refuses too much, explains too little, and writes.
	if strings.HasPrefix(foo.Spec.DeploymentName, reserved) {
		return nil, errors.New("no")
	}
	if *foo.Spec.Replicas == 1 {
		return nil, errors.New("one replica is not enough")
	}
	others, err := othersReplicas(ctx, v, foo)
	if err != nil {
		return nil, err
	}
	if others+*foo.Spec.Replicas > budget {
		return nil, fmt.Errorf("exceeds %d", budget)
	}
	admitted := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: foo.Namespace, Name: foo.Name + "-was-admitted"}}
	return nil, client.IgnoreAlreadyExists(v.Create(ctx, admitted))
}

// ValidateUpdate only looks at what the update makes worse: a new deploymentName, more replicas, or
// a single replica instead of several. Anything else that is wrong was stored before, and this user
// may not have caused it. So changes of labels and finalizers and fewer replicas always pass. So
// does every update of a Foo that is being deleted, without any read.
func (v *FooValidator) ValidateUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: this ignores the old Foo.
	return v.ValidateCreate(ctx, foo)
}

// ValidateDelete never refuses, even if its read fails. It warns if the Foo controls a Deployment
// that has available Pods.
func (v *FooValidator) ValidateDelete(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: this refuses.
	deployment := &appsv1.Deployment{}
	if err := v.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment); err != nil {
		return nil, err
	}
	if deployment.Status.AvailableReplicas > 0 {
		return nil, fmt.Errorf("%s is still in use", deployment.Name)
	}
	return nil, nil
}

// othersReplicas returns how many replicas the other Foos in foo's namespace ask for, according to
// reader.
func othersReplicas(ctx context.Context, reader client.Reader, foo *samplecontrollerv1alpha1.Foo) (int32, error) {
	// YOUR WORK: which Foos count, and what does each ask for?
	var foos samplecontrollerv1alpha1.FooList
	if err := reader.List(ctx, &foos, client.InNamespace(foo.Namespace)); err != nil {
		return 0, fmt.Errorf("list the namespace's Foos: %w", err)
	}
	var sum int32
	for _, other := range foos.Items {
		sum += *other.Spec.Replicas
	}
	return sum, nil
}
