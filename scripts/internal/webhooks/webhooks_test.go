package webhooks

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const manifests = `apiVersion: v1
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

func TestConfigurations(t *testing.T) {
	local, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	made, err := local.Configurations([]byte(manifests), "only-here")
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(strings.TrimPrefix(string(made), "---\n"), "---\n")
	if len(documents) != 2 {
		t.Fatalf("got documents %q", documents)
	}
	var validating admissionv1.ValidatingWebhookConfiguration
	if err := yaml.UnmarshalStrict([]byte(documents[0]), &validating); err != nil {
		t.Fatal(err)
	}
	webhook := validating.Webhooks[0]
	if want := "https://127.0.0.1:" + strconv.Itoa(local.port) + "/validate"; webhook.ClientConfig.URL == nil || *webhook.ClientConfig.URL != want || webhook.ClientConfig.Service != nil {
		t.Errorf("got client config %+v, want %s", webhook.ClientConfig, want)
	}
	if len(webhook.ClientConfig.CABundle) == 0 || webhook.NamespaceSelector.MatchLabels["kubernetes.io/metadata.name"] != "only-here" || *webhook.FailurePolicy != admissionv1.Fail {
		t.Errorf("it is %+v", webhook)
	}
	if key, value, _ := strings.Cut(Label, "="); validating.Labels[key] != value {
		t.Errorf("its labels are %v", validating.Labels)
	}

	everywhere, err := local.Configurations([]byte(manifests), "")
	if err != nil || strings.Contains(string(everywhere), "namespaceSelector") {
		t.Errorf("error %v, or only for some namespace:\n%s", err, everywhere)
	}
}

func TestConversion(t *testing.T) {
	local, err := New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const one = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.example.com}\nspec: {group: example.com, versions: [{name: v1}"
	if made, err := local.Conversion([]byte(one + "]}")); made != nil || err != nil {
		t.Errorf("for one version it is %q, %v; want nothing", made, err)
	}
	made, err := local.Conversion([]byte(one + ", {name: v2}]}"))
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(made, &crd); err != nil {
		t.Fatal(err)
	}
	conversion := crd.Spec.Conversion
	if conversion == nil || conversion.Strategy != apiextensionsv1.WebhookConverter || len(crd.Spec.Versions) != 2 {
		t.Fatalf("it is %+v", crd.Spec)
	}
	config := conversion.Webhook.ClientConfig
	if want := "https://127.0.0.1:" + strconv.Itoa(local.port) + "/convert"; config.URL == nil || *config.URL != want || len(config.CABundle) == 0 {
		t.Errorf("got client config %+v, want %s", config, want)
	}
	if _, err := local.Conversion([]byte("{")); err == nil {
		t.Error("a CRD that is no YAML gets no error")
	}
}

// The certificate is good for the address in the configurations, and its key is nobody else's.
func TestAwait(t *testing.T) {
	dir := t.TempDir()
	local, err := New(dir)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(dir, "tls.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read the key: %v, %v", info.Mode(), err)
	}
	certificate, err := tls.LoadX509KeyPair(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := tls.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(local.port)), &tls.Config{Certificates: []tls.Certificate{certificate}})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() {
		connection, err := listener.Accept()
		if err == nil {
			err = connection.(*tls.Conn).Handshake()
			connection.Close()
		}
		served <- err
	}()
	if err := local.Await(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	listener.Close()

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := local.Await(ended); err == nil {
		t.Error("Await returned without a server")
	}
}
