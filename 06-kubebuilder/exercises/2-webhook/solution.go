//go:build solution

// Package webhook is about what a webhook should refuse, warn about, and let pass.
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

// FooDefaulter sets a field that the user left out. It never changes a field that the user set.
type FooDefaulter struct{}

var _ admission.Defaulter[*samplecontrollerv1alpha1.Foo] = FooDefaulter{}

// Default sets a missing deploymentName to the Foo's own name. It leaves replicas alone. The
// schema's default, 1, is set before this is called, so Default can't tell it from a 1 that the
// user set. It doesn't change a Foo that is being deleted.
func (FooDefaulter) Default(_ context.Context, foo *samplecontrollerv1alpha1.Foo) error {
	if foo.Spec.DeploymentName == "" && foo.DeletionTimestamp.IsZero() {
		// With generateName, the Foo has no name yet. Then the schema refuses it.
		foo.Spec.DeploymentName = foo.Name
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
	return v.validate(ctx, nil, foo)
}

// ValidateUpdate only looks at what the update makes worse: a new deploymentName, more replicas, or
// a single replica instead of several. Anything else that is wrong was stored before, and this user
// may not have caused it. So changes of labels and finalizers and fewer replicas always pass. So
// does every update of a Foo that is being deleted, without any read.
func (v *FooValidator) ValidateUpdate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	if !foo.DeletionTimestamp.IsZero() {
		return nil, nil
	}
	return v.validate(ctx, old, foo)
}

// validate validates the changes from old to foo. For a create, old is nil.
func (v *FooValidator) validate(ctx context.Context, old, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	spec := field.NewPath("spec")
	var wrong field.ErrorList

	// 1. The name, if it is new.
	name := foo.Spec.DeploymentName
	if renamed := old == nil || old.Spec.DeploymentName != name; renamed && strings.HasPrefix(name, reserved) {
		wrong = append(wrong, field.Invalid(spec.Child("deploymentName"), name, reservedName))
	}

	// 2. The replicas, if there are more than before. The cache may not know yet that another Foo
	// has been scaled down or deleted. So the cache's answer is enough to accept, but only the
	// API server's is enough to refuse.
	replicas := replicasOf(foo)
	if old == nil || replicas > replicasOf(old) {
		others, err := othersReplicas(ctx, v, foo)
		if err == nil && others+replicas > budget {
			others, err = othersReplicas(ctx, v.APIReader, foo)
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

	// 3. A warning, unless there was one replica before.
	if replicas == 1 && (old == nil || replicasOf(old) > 1) {
		return admission.Warnings{oneReplica}, nil
	}
	return nil, nil
}

// ValidateDelete never refuses, even if its read fails. It warns if the Foo controls a Deployment
// that has available Pods.
func (v *FooValidator) ValidateDelete(ctx context.Context, foo *samplecontrollerv1alpha1.Foo) (admission.Warnings, error) {
	deployment := &appsv1.Deployment{}
	err := v.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, deployment)
	if err != nil || !metav1.IsControlledBy(deployment, foo) || deployment.Status.AvailableReplicas == 0 {
		return nil, nil // a failed read is no reason to refuse
	}
	return admission.Warnings{goesAlong(deployment.Name, deployment.Status.AvailableReplicas)}, nil
}

// othersReplicas returns how many replicas the other Foos in foo's namespace ask for, according to
// reader.
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

// replicasOf returns the number of replicas that a Foo asks for.
func replicasOf(foo *samplecontrollerv1alpha1.Foo) int32 { return ptr.Deref(foo.Spec.Replicas, 1) }
