//go:build solution

// Package webhook is about what a webhook refuses, what it warns of, and what it lets pass.
package webhook

import (
	"context"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/utils/ptr"
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
	if foo.Spec.DeploymentName == "" && foo.DeletionTimestamp.IsZero() {
		foo.Spec.DeploymentName = foo.Name // with generateName there is none yet: then the schema refuses it
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
	return v.judge(ctx, nil, foo)
}

// ValidateUpdate judges, and warns of, what a change changes for the worse: another deploymentName, more replicas, one replica where
// there were more. Whatever else is wrong was stored so already, and isn't this user's doing: labels, finalizers and fewer replicas
// pass. Of a Foo that is being deleted everything passes, and nobody is asked.
func (v *FooValidator) ValidateUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	if !foo.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.judge(ctx, old, foo)
}

// judge judges what foo says otherwise than old. A nil old says nothing.
func (v *FooValidator) judge(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	spec := field.NewPath("spec")
	var wrong field.ErrorList

	// 1. The name, if it is a new one.
	name := foo.Spec.DeploymentName
	if renamed := old == nil || old.Spec.DeploymentName != name; renamed && strings.HasPrefix(name, reserved) {
		wrong = append(wrong, field.Invalid(spec.Child("deploymentName"), name, reservedName))
	}

	// 2. The replicas, if they are more. The cache may lag behind others that have been scaled down or are gone: so it may let pass,
	// and only the server may refuse.
	replicas := replicasOf(foo)
	if old == nil || replicas > replicasOf(old) {
		others, err := othersReplicas(ctx, v, foo)
		if err == nil && others+replicas > budget {
			others, err = othersReplicas(ctx, v.Live, foo)
		}
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if others+replicas > budget {
			wrong = append(wrong, field.Invalid(spec.Child("replicas"), replicas, overBudget(others)))
		}
	}
	if len(wrong) > 0 {
		return nil, apierrors.NewInvalid(samplecontrollerv1alpha1.GroupVersion.WithKind("Foo").GroupKind(), foo.Name, wrong)
	}

	// 3. What is unwise, if it wasn't so before.
	if replicas == 1 && (old == nil || replicasOf(old) > 1) {
		return admission.Warnings{oneReplica}, nil
	}
	return nil, nil
}

// ValidateDelete refuses nothing, also if nobody can be asked. It warns if there is a Deployment that the Foo controls and that has
// Pods available.
func (v *FooValidator) ValidateDelete(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	deployment := &appsv1.Deployment{}
	err := v.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment)
	if err != nil || !metav1.IsControlledBy(deployment, foo) || deployment.Status.AvailableReplicas == 0 {
		return nil, nil // a warning that can't be given is no reason to refuse
	}
	return admission.Warnings{goesAlong(deployment.Name, deployment.Status.AvailableReplicas)}, nil
}

// othersReplicas returns how many replicas the other Foos of foo's namespace ask for, as reader knows them.
func othersReplicas(ctx context.Context, reader client.Reader, foo *samplecontrollerv1alpha1.Foo) (int32, error) {
	var foos samplecontrollerv1alpha1.FooList
	if err := reader.List(ctx, &foos, client.InNamespace(foo.Namespace)); err != nil {
		return 0, fmt.Errorf("list the namespace's Foos: %w", err)
	}
	var sum int32
	for i := range foos.Items {
		if other := &foos.Items[i]; other.Name != foo.Name && other.DeletionTimestamp.IsZero() {
			sum += replicasOf(other)
		}
	}
	return sum, nil
}

// replicasOf returns what a Foo asks for.
func replicasOf(foo *samplecontrollerv1alpha1.Foo) int32 { return ptr.Deref(foo.Spec.Replicas, 1) }
