package deploy

// The webhooks' certificate for chapters 06 and 07, so that the cluster needs no cert-manager.

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"
)

// manifestsWithCertificate returns dist/install.yaml for a cluster without cert-manager.
func (d Deployment) manifestsWithCertificate() ([]byte, error) {
	manifests, err := os.ReadFile(d.Chapter.Parts().Permissions)
	if err != nil {
		return nil, err
	}
	return withCertificate(manifests)
}

// withCertificate does cert-manager's work on manifests, which are YAML. It replaces the
// Certificate with the Secret that the Certificate asks for, and writes the CA into the objects
// that have cert-manager's annotation. The certificate is valid for a year.
func withCertificate(manifests []byte) ([]byte, error) {
	var objects []*unstructured.Unstructured
	var trusting []map[string]any // each says whom the API server calls and trusts
	var secret *unstructured.Unstructured
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := documents.Decode(&object.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("decode the manifests: %w", err)
		}
		switch {
		case object.GetKind() == "Certificate":
			secret = object
		case object.GroupVersionKind().Group != "cert-manager.io":
			objects = append(objects, object)
		}
		if object.GetAnnotations()["cert-manager.io/inject-ca-from"] != "" {
			trusting = append(trusting, clientConfigs(object.Object)...)
		}
	}
	if secret == nil {
		return nil, errors.New("the manifests have no Certificate")
	}
	names, _, _ := unstructured.NestedStringSlice(secret.Object, "spec", "dnsNames")
	name, _, _ := unstructured.NestedString(secret.Object, "spec", "secretName")
	if len(names) == 0 || name == "" {
		return nil, fmt.Errorf("the Certificate %s has no dnsNames or no secretName", secret.GetName())
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(names[0], nil, names)
	if err != nil {
		return nil, fmt.Errorf("make a certificate for the webhooks: %w", err)
	}
	secret.Object = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata":   map[string]any{"namespace": secret.GetNamespace(), "name": name},
		"stringData": map[string]any{"tls.crt": string(certificate), "tls.key": string(key)},
	}
	for _, config := range trusting {
		config["caBundle"] = base64.StdEncoding.EncodeToString(certificate) // the CA's certificate is in it, too
	}
	var made bytes.Buffer
	for _, object := range append(objects, secret) {
		content, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&made, "---\n%s", content)
	}
	return made.Bytes(), nil
}

// clientConfigs returns how the API server calls each webhook of a webhook configuration, or the
// conversion webhook of a CRD.
func clientConfigs(object map[string]any) (found []map[string]any) {
	conversion, exists, _ := unstructured.NestedFieldNoCopy(object, "spec", "conversion", "webhook", "clientConfig")
	if exists {
		found = append(found, conversion.(map[string]any))
	}
	webhooks, _ := object["webhooks"].([]any)
	for _, webhook := range webhooks {
		found = append(found, webhook.(map[string]any)["clientConfig"].(map[string]any))
	}
	return found
}
