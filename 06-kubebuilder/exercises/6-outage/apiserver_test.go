//go:build check || solution

// The API server of the tests. Kubernetes' own admission code decides which requests need the
// guard, and the guard's Go code answers them.

package main

import (
	"context"
	"fmt"
	"sync"
	"testing"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	samplecontrollerv1alpha1 "example.com/operators/06-kubebuilder/api/v1alpha1"
)

// apiServer has the namespaces that the requests are about, and the guard's configuration.
type apiServer struct {
	*testing.T
	guard *guard // nil while the operator is down
}

// plugin is the admission plugin of the API server that calls validating webhooks.
var plugin = sync.OnceValues(func() (*validating.Plugin, error) {
	plugin, err := validating.NewValidatingAdmissionWebhook(nil)
	if err != nil {
		return nil, err
	}
	factory := informers.NewSharedInformerFactory(nil, 0) // it is never started
	for _, name := range []string{"foo-operator-system", "shop", "monitoring"} {
		namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{corev1.LabelMetadataName: name}}}
		if err := factory.Core().V1().Namespaces().Informer().GetIndexer().Add(namespace); err != nil {
			return nil, err
		}
	}
	plugin.SetExternalKubeInformerFactory(factory)
	return plugin, nil
})

// newGuard returns the guard of an operator that is running, and has the Foo cart.
func newGuard() *guard {
	foo := &samplecontrollerv1alpha1.Foo{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart"}}
	return &guard{fake.NewClientBuilder().WithScheme(scheme).WithObjects(foo).Build()}
}

// send returns the error with which the API server refuses the request, or nil.
func (s *apiServer) send(r request) error {
	s.Helper()
	configuration := guardConfiguration()
	for i := range configuration.Webhooks {
		hook := withDefaults(configuration.Webhooks[i])
		called, err := s.isCalled(&hook, r)
		switch {
		case err != nil:
			return err
		case !called:
		case s.guard == nil && *hook.FailurePolicy == admissionregistrationv1.Fail:
			return fmt.Errorf("failed calling webhook %q: connection refused", hook.Name)
		case s.guard != nil:
			if err := s.guard.review(s.Context(), r); err != nil {
				return fmt.Errorf("admission webhook %q denied the request: %w", hook.Name, err)
			}
		}
	}
	return nil
}

// isCalled reports whether the API server sends the request to the webhook.
func (s *apiServer) isCalled(hook *admissionregistrationv1.ValidatingWebhook, r request) (bool, error) {
	plugin, err := plugin()
	if err != nil {
		return false, err
	}
	gvk := r.object.GetObjectKind().GroupVersionKind()
	attributes := admission.NewAttributesRecord(r.object, r.oldObject(), gvk, r.object.GetNamespace(), r.object.GetName(),
		gvk.GroupVersion().WithResource(r.resource()), r.subresource, r.operation(), nil, false, &user.DefaultInfo{Name: "somebody"})
	objects := admission.NewObjectInterfacesFromScheme(scheme)
	accessor := webhook.NewValidatingWebhookAccessor("uid", guardConfiguration().Name, hook)
	invocation, refusal := plugin.ShouldCallHook(s.Context(), accessor, attributes, objects, versions{attributes, objects})
	if refusal != nil { // a condition can't be evaluated
		return false, refusal
	}
	return invocation != nil, nil
}

// withDefaults returns hook with the values that the API server sets where there are none.
func withDefaults(hook admissionregistrationv1.ValidatingWebhook) admissionregistrationv1.ValidatingWebhook {
	if hook.FailurePolicy == nil {
		hook.FailurePolicy = new(admissionregistrationv1.Fail)
	}
	if hook.MatchPolicy == nil {
		hook.MatchPolicy = new(admissionregistrationv1.Equivalent)
	}
	for _, selector := range []**metav1.LabelSelector{&hook.NamespaceSelector, &hook.ObjectSelector} {
		if *selector == nil {
			*selector = &metav1.LabelSelector{}
		}
	}
	return hook
}

// review returns the guard's answer to a request about a Pod.
func (g *guard) review(ctx context.Context, r request) error {
	pod, ok := r.object.(*corev1.Pod)
	switch {
	case !ok:
		return fmt.Errorf("expected a Pod, got a %T", r.object) // as controller-runtime does
	case r.old == nil:
		_, err := g.ValidateCreate(ctx, pod)
		return err
	}
	_, err := g.ValidateUpdate(ctx, r.old.(*corev1.Pod), pod)
	return err
}

// request is a request to the API server, to create object, or to change old into object.
type request struct {
	object, old client.Object
	subresource string
}

func (r request) operation() admission.Operation {
	if r.old == nil {
		return admission.Create
	}
	return admission.Update
}

// oldObject returns nil, and not an interface with a nil in it, if there is no old object.
func (r request) oldObject() runtime.Object {
	if r.old == nil {
		return nil
	}
	return r.old
}

func (r request) resource() string {
	if _, ok := r.object.(*corev1.Pod); ok {
		return "pods"
	}
	return "configmaps"
}

// versions returns a request's objects in the version that a webhook wants.
type versions struct {
	attributes admission.Attributes
	objects    admission.ObjectInterfaces
}

func (v versions) VersionedAttribute(gvk schema.GroupVersionKind) (*admission.VersionedAttributes, error) {
	return admission.NewVersionedAttributes(v.attributes, gvk, v.objects)
}
