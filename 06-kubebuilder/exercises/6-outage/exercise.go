//go:build !solution

package main

import (
	"context"
	"fmt"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// fooLabel is on all Pods of a Foo. Its value is the Foo's name. Services select Pods by it.
const fooLabel = "controller"

// guardPath is where controller-runtime serves the validator of Pods.
const guardPath = "/validate--v1-pod"

// guardConfiguration tells the API server when to ask the guard. It is part of the installation:
// --print-guard prints it, and cert-manager writes the CA into it.
func guardConfiguration() *admissionregistrationv1.ValidatingWebhookConfiguration {
	return &admissionregistrationv1.ValidatingWebhookConfiguration{
		TypeMeta: metav1.TypeMeta{APIVersion: admissionregistrationv1.SchemeGroupVersion.String(), Kind: "ValidatingWebhookConfiguration"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        "foo-operator-guard",
			Annotations: map[string]string{"cert-manager.io/inject-ca-from": "foo-operator-system/foo-operator-serving-cert"},
		},
		Webhooks: []admissionregistrationv1.ValidatingWebhook{{
			Name: "guard.foo-operator.example.com",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{
				Service: &admissionregistrationv1.ServiceReference{
					Namespace: "foo-operator-system",
					Name:      "foo-operator-webhook-service",
					Path:      new(guardPath),
				},
			},
			// A label can also be added later, so updates matter as well.
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
			}},
			// A Pod that nobody has checked must not get a Foo's traffic.
			FailurePolicy:           new(admissionregistrationv1.Fail),
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			TimeoutSeconds:          new(int32(5)),
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
}

// guard refuses a Pod with a Foo's label that somebody starts by hand, for example to debug
// something. The Foo's Services would send it users' requests.
type guard struct {
	client.Reader // has all Foos
}

// SetupWithManager registers the guard at mgr's webhook server.
func (g *guard) SetupWithManager(mgr ctrl.Manager) error {
	return ctrl.NewWebhookManagedBy(mgr, &corev1.Pod{}).WithValidator(g).Complete()
}

// ValidateCreate validates a new Pod.
func (g *guard) ValidateCreate(ctx context.Context, pod *corev1.Pod) (admission.Warnings, error) {
	return nil, g.refuse(ctx, pod)
}

// ValidateUpdate validates a changed Pod. One that was there before the guard keeps its label, and
// can still be changed.
func (g *guard) ValidateUpdate(ctx context.Context, old, pod *corev1.Pod) (admission.Warnings, error) {
	if pod.Labels[fooLabel] == old.Labels[fooLabel] {
		return nil, nil
	}
	return nil, g.refuse(ctx, pod)
}

// ValidateDelete refuses nothing. The API server doesn't call it.
func (g *guard) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

// refuse returns an error if pod has a Foo's label, but nothing that controls it. A Pod with a
// controller was made from a template, which somebody has reviewed.
func (g *guard) refuse(ctx context.Context, pod *corev1.Pod) error {
	name := pod.Labels[fooLabel]
	if name == "" || metav1.GetControllerOf(pod) != nil {
		return nil
	}
	err := g.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, &samplecontrollerv1alpha1.Foo{})
	switch {
	case apierrors.IsNotFound(err):
		return nil // somebody else's label
	case err != nil:
		return apierrors.NewInternalError(fmt.Errorf("get Foo %q: %w", name, err))
	}
	return apierrors.NewForbidden(corev1.Resource("pods"), pod.Name,
		fmt.Errorf("with the label %s=%s, it would get the requests to Foo %q: choose another label", fooLabel, name, name))
}
