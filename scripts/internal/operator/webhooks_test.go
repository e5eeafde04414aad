package operator

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

const webhookManifests = `apiVersion: v1
kind: Service
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validates}
webhooks:
- name: a.example.com
  failurePolicy: Fail
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: a, namespace: b, path: /validate}}
  namespaceSelector: {matchLabels: {kind: usual}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutates}
webhooks:
- name: b.example.com
  sideEffects: None
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: a, namespace: b, path: /mutate}}
`

func TestWebhookConfigurations(t *testing.T) {
	dir := t.TempDir()
	local, err := NewLocalWebhooks(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "tls.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", info.Mode(), err)
	}
	file := filepath.Join(dir, "webhooks.yaml")
	if err := os.WriteFile(file, []byte(webhookManifests), 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := local.Configurations("only-here", false, file)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 2 {
		t.Fatalf("got %d configurations, want 2", len(made))
	}
	var validating admissionv1.ValidatingWebhookConfiguration
	err = runtime.DefaultUnstructuredConverter.FromUnstructuredWithValidation(made[0].Object, &validating, true)
	if err != nil {
		t.Fatal(err)
	}
	webhook := validating.Webhooks[0]
	want := admissionv1.WebhookClientConfig{URL: new("https://" + local.Address + "/validate"), CABundle: local.ca}
	if diff := cmp.Diff(want, webhook.ClientConfig); diff != "" {
		t.Error(diff)
	}
	wantSelector := &metav1.LabelSelector{
		MatchLabels: map[string]string{"kind": "usual"},
		MatchExpressions: []metav1.LabelSelectorRequirement{
			{Key: "kubernetes.io/metadata.name", Operator: metav1.LabelSelectorOpIn, Values: []string{"only-here"}},
		},
	}
	if diff := cmp.Diff(wantSelector, webhook.NamespaceSelector); diff != "" {
		t.Error(diff)
	}
	everywhere, err := local.Configurations("", false, file)
	if err != nil || len(everywhere) != 2 || strings.Contains(fmt.Sprint(everywhere), "metadata.name") {
		t.Errorf("error %v, or only for some namespace: %v", err, everywhere)
	}
}

func TestConversion(t *testing.T) {
	local, err := NewLocalWebhooks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	withVersions := func(names ...string) *unstructured.Unstructured {
		var versions []any
		for _, name := range names {
			versions = append(versions, map[string]any{"name": name})
		}
		return &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"versions": versions}}}
	}
	if local.Convert(withVersions("v1")) {
		t.Error("a CRD with one version needs a conversion")
	}
	none := withVersions("v1", "v2")
	none.Object["spec"].(map[string]any)["conversion"] = map[string]any{"strategy": "None"}
	if local.Convert(none) {
		t.Error("a CRD whose strategy is None needs a conversion")
	}
	changed := withVersions("v1", "v2")
	if !local.Convert(changed) {
		t.Error("a CRD with two versions needs no conversion")
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(changed.Object, &crd); err != nil {
		t.Fatal(err)
	}
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || len(crd.Spec.Versions) != 2 {
		t.Fatalf("it is %+v", crd.Spec)
	}
	config := conversion.Webhook.ClientConfig
	if config.URL == nil || *config.URL != "https://"+local.Address+"/convert" || len(config.CABundle) == 0 {
		t.Errorf("got client config %+v", config)
	}
}
