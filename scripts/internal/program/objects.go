package program

// Changing manifests.

import (
	"encoding/base64"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/cert"

	"example.com/operators/scripts/internal/operator"
)

// writeObjects returns objects as kubectl reads them.
func writeObjects(objects []*unstructured.Unstructured) (made []byte, err error) {
	for _, object := range objects {
		content, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		made = append(made, content...)
	}
	return made, nil
}

// withCertificate returns the manifests of a kubebuilder project for a cluster without cert-manager.
// It replaces the Certificate with the Secret that the Certificate asks for, and writes the CA into
// the objects that have cert-manager's annotation. The certificate is valid for a year.
func withCertificate(file string) ([]byte, error) {
	all, err := operator.ReadObjects(file)
	if err != nil {
		return nil, err
	}
	var objects []*unstructured.Unstructured
	var trusting []map[string]any // each says whom the API server calls and trusts
	var ca string
	for _, object := range all {
		if object.GetKind() == "Certificate" {
			if ca, err = makeSecret(object); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
		if object.GroupVersionKind().Group != "cert-manager.io" {
			objects = append(objects, object)
		}
		if object.GetAnnotations()["cert-manager.io/inject-ca-from"] != "" {
			trusting = append(trusting, clientConfigs(object)...)
		}
	}
	for _, config := range trusting {
		config["caBundle"] = ca
	}
	return writeObjects(objects)
}

// makeSecret turns a Certificate into the Secret that it asks for, and returns the CA for those who
// trust it.
func makeSecret(object *unstructured.Unstructured) (ca string, err error) {
	names, _, _ := unstructured.NestedStringSlice(object.Object, "spec", "dnsNames")
	name, _, _ := unstructured.NestedString(object.Object, "spec", "secretName")
	if len(names) == 0 || name == "" {
		return "", fmt.Errorf("the Certificate %s has no dnsNames or no secretName", object.GetName())
	}
	certificate, key, err := cert.GenerateSelfSignedCertKey(names[0], nil, names)
	if err != nil {
		return "", fmt.Errorf("make a certificate for the webhooks: %w", err)
	}
	object.Object = map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "kubernetes.io/tls",
		"metadata":   map[string]any{"namespace": object.GetNamespace(), "name": name},
		"stringData": map[string]any{"tls.crt": string(certificate), "tls.key": string(key)},
	}
	return base64.StdEncoding.EncodeToString(certificate), nil // the CA's certificate is in it, too
}

// clientConfigs returns how the API server calls each webhook of a webhook configuration, or the
// conversion webhook of a CRD.
func clientConfigs(object *unstructured.Unstructured) (found []map[string]any) {
	conversion, exists, _ := unstructured.NestedFieldNoCopy(object.Object, "spec", "conversion", "webhook", "clientConfig")
	if exists {
		found = append(found, conversion.(map[string]any))
	}
	for _, webhook := range operator.MapsIn(object, "webhooks") {
		found = append(found, webhook["clientConfig"].(map[string]any))
	}
	return found
}
