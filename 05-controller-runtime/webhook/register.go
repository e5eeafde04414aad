// The registration: the API server calls a webhook only if a configuration says so. kubebuilder
// generates configurations from markers, and they are installed with the program. Here, the program
// creates them when it serves, and deletes them when it stops.

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook"

	samplecontrollerv1alpha1 "example.com/operators/05-controller-runtime/pkg/apis/samplecontroller/v1alpha1"
)

var fooKind = schema.FromAPIVersionAndKind(samplecontrollerv1alpha1.GroupVersion.String(), "Foo")

// registration is a part of the manager, like a controller.
type registration struct {
	api    client.Client
	server webhook.Server
	port   int
	ca     []byte
}

var _ manager.Runnable = &registration{}

// Start registers the webhooks when they are served. When ctx ends, it deletes the configurations.
// The manager stops the webhook server after that, so no call fails in between.
func (r *registration) Start(ctx context.Context) (err error) {
	served := func(context.Context) (bool, error) { return r.server.StartedChecker()(nil) == nil, nil }
	if err := wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, served); err != nil {
		return nil // told to stop
	}
	configurations := r.configurations()
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		for _, configuration := range configurations {
			err = errors.Join(err, client.IgnoreNotFound(r.api.Delete(ctx, configuration)))
		}
	}()
	for _, configuration := range configurations {
		// An earlier run may have left one behind, with another certificate.
		if err := client.IgnoreNotFound(r.api.Delete(ctx, configuration)); err != nil {
			return fmt.Errorf("delete an old webhook configuration: %w", err)
		}
		if err := r.api.Create(ctx, configuration); err != nil {
			return fmt.Errorf("register a webhook: %w", err)
		}
	}
	ctrl.LoggerFrom(ctx).Info("Registered the webhooks")
	<-ctx.Done()
	return nil
}

// configurations tell the API server when to call which URL, and whom to trust there. They list
// creates only, so while this program is down, a Foo can still be changed and deleted.
func (r *registration) configurations() []client.Object {
	onCreate := []admissionv1.RuleWithOperations{{
		Operations: []admissionv1.OperationType{admissionv1.Create},
		Rule:       admissionv1.Rule{APIGroups: []string{fooKind.Group}, APIVersions: []string{fooKind.Version}, Resources: []string{"foos"}},
	}}
	at := func(path string) admissionv1.WebhookClientConfig {
		return admissionv1.WebhookClientConfig{URL: new("https://" + net.JoinHostPort(host, strconv.Itoa(r.port)) + path), CABundle: r.ca}
	}
	return []client.Object{
		&admissionv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "foo-webhook"},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name:                    "mfoo-v1alpha1.example.com",
				ClientConfig:            at("/mutate-samplecontroller-k8s-io-v1alpha1-foo"),
				Rules:                   onCreate,
				FailurePolicy:           new(admissionv1.Fail),
				SideEffects:             new(admissionv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"},
			}},
		},
		&admissionv1.ValidatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: "foo-webhook"},
			Webhooks: []admissionv1.ValidatingWebhook{{
				Name:                    "vfoo-v1alpha1.example.com",
				ClientConfig:            at("/validate-samplecontroller-k8s-io-v1alpha1-foo"),
				Rules:                   onCreate,
				FailurePolicy:           new(admissionv1.Fail),
				SideEffects:             new(admissionv1.SideEffectClassNone),
				AdmissionReviewVersions: []string{"v1"},
			}},
		},
	}
}
