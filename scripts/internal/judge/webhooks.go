package judge

// The operator's webhooks: the API server calls them for objects in the scenario's namespace, at a
// port of the newest replica.

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/operators/scripts/internal/operator"
)

// An operator that isn't told otherwise serves its webhooks at defaultWebhookPort and finds their
// certificate in defaultCertDir below $TMPDIR. These are controller-runtime's defaults.
const defaultWebhookPort, defaultCertDir = "9443", "k8s-webhook-server/serving-certs"

// webhooksOfNext returns the webhooks of the next replica, at a port that is free. If the operator also
// converts, the first replica of each check has the same port, because a change of the CRD would end
// all watches of its objects.
func (s *scenario) webhooksOfNext(free string) operator.LocalWebhooks {
	switch {
	case !s.hasPlaceholder("{webhooks}"):
		return s.webhooks.OnPort(defaultWebhookPort)
	case len(s.crds) > 0 && s.installedAt == "":
		return *s.webhooks
	}
	return s.webhooks.OnPort(free)
}

// convertAt makes the API server ask a replica for conversions.
func (s *scenario) convertAt(webhooks operator.LocalWebhooks) {
	for _, crd := range s.crds {
		webhooks.Convert(crd)
		s.must(s.applyObject(s.ctx, crd))
	}
}

// install makes the API server call the webhooks of a replica. The replica needn't serve them yet: see
// webhookRetrier.
func (s *scenario) install(webhooks operator.LocalWebhooks) {
	s.convertAt(webhooks)
	configurations, err := webhooks.Configurations(s.namespace, s.isClusterScoped, s.config.Webhooks...)
	s.must(err)
	if len(configurations)+len(s.crds) == 0 {
		s.unable("the files that judge.yaml lists in webhooks have no webhook configuration")
	}
	s.installed, s.installedAt = configurations, webhooks.Address
	for _, configuration := range configurations {
		configuration.SetName(s.namespace + "-" + configuration.GetName())
		configuration.SetLabels(judgesLabels)
		marker := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
		marker.SetName(configuration.GetName() + "-" + webhooks.Port())
		s.must(s.mark(configuration, marker.GetName()))
		s.must(s.applyObject(s.ctx, configuration))
		s.must(s.soon(func() error {
			if _, err := s.wouldBe(marker); !apierrors.IsForbidden(err) {
				return fmt.Errorf("the API server doesn't use the judge's webhook configurations yet (%w)", err)
			}
			return nil
		}))
	}
}

// mark adds a webhook that forbids one ConfigMap, so that install can see when the configuration has
// taken effect. The API server never calls this webhook: its match condition is false for all other
// objects and can't be evaluated for this one, so the API server refuses it, as failurePolicy says.
func (s *scenario) mark(configuration *unstructured.Unstructured, forbidden string) error {
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil || len(webhooks) == 0 {
		return errors.Join(err, fmt.Errorf("%s has no webhooks", title(configuration)))
	}
	marker := map[string]any{
		"name": "installed.judge.example.com", "clientConfig": webhooks[0].(map[string]any)["clientConfig"],
		"namespaceSelector":       map[string]any{"matchLabels": map[string]any{corev1.LabelMetadataName: s.namespace}},
		"admissionReviewVersions": []any{"v1"}, "sideEffects": "None", "failurePolicy": "Fail",
		"rules": []any{map[string]any{
			"apiGroups": []any{""}, "apiVersions": []any{"v1"}, "operations": []any{"CREATE"}, "resources": []any{"configmaps"},
		}},
		"matchConditions": []any{map[string]any{
			"name": "marker", "expression": "object.metadata.name == '" + forbidden + "' && object.none == ''",
		}},
	}
	return unstructured.SetNestedSlice(configuration.Object, append([]any{marker}, webhooks...), "webhooks")
}

// uninstall deletes the configurations if they still have this address. If a newer replica serves the
// webhooks by now, they stay.
func (s *scenario) uninstall(address string) {
	if s.installedAt != address {
		return
	}
	var errs []error
	for _, configuration := range s.installed {
		err := s.api(configuration).Delete(context.WithoutCancel(s.ctx), configuration.GetName(), metav1.DeleteOptions{})
		errs = append(errs, operator.IgnoreNotFound(err))
	}
	s.installed, s.installedAt = nil, ""
	s.must(errors.Join(errs...))
}

// removeConverted removes the samples while the operator still converts them. As long as there is an
// object that nobody converts, the API server can't list its kind in another version, and then no
// namespace can be deleted.
func (s *scenario) removeConverted() {
	if len(s.crds) > 0 {
		s.removeSamples(context.WithoutCancel(s.ctx))
	}
}

// webhookRetrier is a transport that makes client-go retry requests that fail with status 500, unless
// they are dry runs, for some seconds: a webhook may not answer, because the operator has just been
// started or killed.
type webhookRetrier struct{ http.RoundTripper }

func (r webhookRetrier) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.RoundTripper.RoundTrip(request)
	if err == nil && response.StatusCode == http.StatusInternalServerError && !request.URL.Query().Has("dryRun") {
		response.Header.Set("Retry-After", "1")
	}
	return response, err
}
