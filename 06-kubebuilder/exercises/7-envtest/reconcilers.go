// The reconcilers that your tests get: one that keeps its promises, and five that each break one.
// Each of these passes a test in which nothing goes wrong. You don't need to change anything here.

package envtests

import (
	"context"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// Reconcile makes the cluster match what the Foo with that key asks for. These are its promises:
//
//  1. The Foo's Deployment has the replicas that the Foo asks for, even if somebody else has scaled
//     it.
//  2. The Deployment's Pods have the Foo's labels. When these change, the Pods' labels follow.
//  3. It doesn't change a Deployment that the Foo doesn't control.
//  4. The Foo's status has the condition Ready.
//  5. Conditions that others have written into the Foo's status stay.
//
// It returns an error if it couldn't do all of this.
type Reconcile func(ctx context.Context, c client.Client, key client.ObjectKey) error

// fieldOwner is the reconcilers' name in managedFields.
const fieldOwner = client.FieldOwner("foo-controller")

// right keeps all promises.
var right = reconciler{
	selector:    ownLabel,
	force:       []client.ApplyOption{client.ForceOwnership},
	mayChange:   metav1.IsControlledBy,
	writeStatus: patchStatus,
}

// wrong has a change to right for each of the reconcilers that break a promise. The key says what
// such a reconciler does.
var wrong = map[string]func(r *reconciler){
	"gives in to others who scale the Deployment": func(r *reconciler) { r.force = nil },
	"selects the Pods by all their labels":        func(r *reconciler) { r.selector = podLabels },
	"takes over other people's Deployments":       func(r *reconciler) { r.mayChange = always },
	"writes the status with the rest of the Foo":  func(r *reconciler) { r.writeStatus = patchFoo },
	"replaces the whole list of conditions":       func(r *reconciler) { r.writeStatus = updateStatus },
}

// reconciler has a field for each thing that the reconcilers do differently.
type reconciler struct {
	selector    func(foo *samplecontrollerv1alpha1.Foo) map[string]string
	force       []client.ApplyOption
	mayChange   func(observed, owner metav1.Object) bool
	writeStatus func(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo, ready metav1.Condition) error
}

func (r reconciler) reconcile(ctx context.Context, c client.Client, key client.ObjectKey) error {
	foo := &samplecontrollerv1alpha1.Foo{}
	if err := c.Get(ctx, key, foo); err != nil {
		return client.IgnoreNotFound(err)
	}
	observed := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: foo.Namespace, Name: foo.Spec.DeploymentName}, observed)
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Progressing", LastTransitionTime: metav1.Now()}
	switch {
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("get the Deployment: %w", err)
	case err == nil && !r.mayChange(observed, foo):
		ready.Reason = "ErrResourceExists"
		return r.writeStatus(ctx, c, foo, ready)
	}
	options := append([]client.ApplyOption{fieldOwner}, r.force...)
	if err := c.Apply(ctx, r.desired(foo), options...); err != nil {
		return fmt.Errorf("apply the Deployment: %w", err)
	}
	return r.writeStatus(ctx, c, foo, ready)
}

func (r reconciler) desired(foo *samplecontrollerv1alpha1.Foo) *appsv1ac.DeploymentApplyConfiguration {
	return appsv1ac.Deployment(foo.Spec.DeploymentName, foo.Namespace).
		WithOwnerReferences(metav1ac.OwnerReference().
			WithAPIVersion(samplecontrollerv1alpha1.GroupVersion.String()).
			WithKind("Foo").
			WithName(foo.Name).
			WithUID(foo.UID).
			WithController(true)).
		WithSpec(appsv1ac.DeploymentSpec().
			WithReplicas(*foo.Spec.Replicas).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(r.selector(foo))).
			WithTemplate(corev1ac.PodTemplateSpec().
				WithLabels(podLabels(foo)).
				WithSpec(corev1ac.PodSpec().
					WithContainers(corev1ac.Container().WithName("nginx").WithImage("nginx")))))
}

// ownLabel returns the one label that never changes.
func ownLabel(foo *samplecontrollerv1alpha1.Foo) map[string]string {
	return map[string]string{"controller": foo.Name}
}

func podLabels(foo *samplecontrollerv1alpha1.Foo) map[string]string {
	all := ownLabel(foo)
	maps.Copy(all, foo.Labels)
	return all
}

func always(metav1.Object, metav1.Object) bool { return true }

// patchStatus sends the whole list of conditions, but only if nobody has changed the Foo since it was
// read.
func patchStatus(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo, ready metav1.Condition) error {
	before := foo.DeepCopy()
	meta.SetStatusCondition(&foo.Status.Conditions, ready)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return c.Status().Patch(ctx, foo, patch, fieldOwner)
}

func patchFoo(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo, ready metav1.Condition) error {
	before := foo.DeepCopy()
	meta.SetStatusCondition(&foo.Status.Conditions, ready)
	return c.Patch(ctx, foo, client.MergeFrom(before))
}

func updateStatus(ctx context.Context, c client.Client, foo *samplecontrollerv1alpha1.Foo, ready metav1.Condition) error {
	foo.Status.Conditions = []metav1.Condition{ready}
	return c.Status().Update(ctx, foo)
}
