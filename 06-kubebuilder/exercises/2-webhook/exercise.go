//go:build !solution

// Package webhook is about what a webhook refuses, what it warns of, and what it lets pass.
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

// FooDefaulter fills in what a Foo leaves out, and nothing else: what a user has said stays.
type FooDefaulter struct{}

var _ admission.Defaulter[*samplecontrollerv1alpha1.Foo] = FooDefaulter{}

// Default gives a Foo without a deploymentName its own name for it. Replicas it leaves to the schema, whose default comes first: so
// here, a 1 that nobody has said looks like one that somebody has. A Foo that is being deleted stays as it is.
func (FooDefaulter) Default(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	// YOUR WORK: this knows better than the user.
	foo.Spec.DeploymentName = foo.Name
	if *foo.Spec.Replicas < 2 {
		foo.Spec.Replicas = new(int32(2))
	}
	return nil
}

// FooValidator refuses what can't be, warns of what is unwise, and lets all else pass. What users read is in texts.go.
//
// It refuses a deploymentName that begins with "platform-"; and replicas that are, with those of the other Foos in the namespace, more
// than 20 together. Foos that are being deleted don't count. A Foo that doesn't say its replicas has 1.
//
// A refusal is an error of the API's, Invalid. For each field that is wrong it has a cause with that field and what to do about it,
// all of them at once. It is right: before there is no room for replicas, the API server was asked, not just the cache. As long as
// the cache says that there is room, it isn't asked. If one of them can't answer, that is an error of the API's too, an internal one.
//
// It warns of a single replica, which is unwise, and of what goes along with a deletion. A refusal doesn't warn as well.
//
// It writes nothing: the API server is told so (sideEffects=None), and therefore asks also when it is all a dry run. What is let pass
// here may still be refused by somebody else.
type FooValidator struct {
	client.Client               // reads from the cache, writes to the server
	Live          client.Reader // reads from the server
}

var _ admission.Validator[*samplecontrollerv1alpha1.Foo] = &FooValidator{}

// ValidateCreate judges a new Foo: all that it says.
func (v *FooValidator) ValidateCreate(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: it refuses too much, says too little, and writes.
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

// ValidateUpdate judges, and warns of, what a change changes for the worse: another deploymentName, more replicas, one replica where
// there were more. Whatever else is wrong was stored so already, and isn't this user's doing: labels, finalizers and fewer replicas
// pass. Of a Foo that is being deleted everything passes, and nobody is asked.
func (v *FooValidator) ValidateUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: it doesn't look at what there was.
	return v.ValidateCreate(ctx, foo)
}

// ValidateDelete refuses nothing, also if nobody can be asked. It warns if there is a Deployment that the Foo controls and that has
// Pods available.
func (v *FooValidator) ValidateDelete(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	// YOUR WORK: it refuses.
	deployment := &appsv1.Deployment{}
	if err := v.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment); err != nil {
		return nil, err
	}
	if deployment.Status.AvailableReplicas > 0 {
		return nil, fmt.Errorf("%s is still in use", deployment.Name)
	}
	return nil, nil
}

// othersReplicas returns how many replicas the other Foos of foo's namespace ask for, as reader knows them.
func othersReplicas(ctx context.Context, reader client.Reader, foo *samplecontrollerv1alpha1.Foo) (int32, error) {
	// YOUR WORK: it counts too many, and some can't be counted so.
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
