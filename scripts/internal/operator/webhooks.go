package operator

// How a cluster calls the webhooks of an operator on this machine: with a certificate, and with
// webhook configurations and a CRD that have the operator's address in place of a Service.

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"
)

// webhookHost is where the operator serves its webhooks.
const webhookHost = "127.0.0.1"

// LocalWebhooks are an operator's webhooks on this machine.
type LocalWebhooks struct {
	dir     string // of the certificate
	address string // host and port
	ca      []byte // PEM
}

// NewLocalWebhooks writes a certificate to dir, which must exist, and finds a free port.
func NewLocalWebhooks(dir string) (*LocalWebhooks, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(webhookHost, nil, nil)
	if err == nil {
		err = errors.Join(
			os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600),
			os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	}
	if err != nil {
		return nil, fmt.Errorf("certificate for webhooks: %w", err)
	}
	port, err := FreePort()
	if err != nil {
		return nil, fmt.Errorf("port for webhooks: %w", err)
	}
	local := LocalWebhooks{dir: dir, ca: certificate}.OnPort(port)
	return &local, nil
}

// OnPort returns the webhooks of another replica, with the same certificate.
func (l LocalWebhooks) OnPort(port string) LocalWebhooks {
	l.address = net.JoinHostPort(webhookHost, port)
	return l
}

// Dir is the folder of the certificate, in the files tls.crt and tls.key.
func (l LocalWebhooks) Dir() string { return l.dir }

// Port is where the operator serves the webhooks.
func (l LocalWebhooks) Port() string {
	_, port, _ := net.SplitHostPort(l.address)
	return port
}

// Flags are what a chapter's program must be started with.
func (l *LocalWebhooks) Flags() []string {
	return []string{"--webhook-host", webhookHost, "--webhook-port", l.Port(), "--webhook-cert-path", l.dir}
}

// Await waits until the operator answers.
func (l *LocalWebhooks) Await(ctx context.Context) error {
	roots, err := cert.NewPoolFromBytes(l.ca)
	if err != nil {
		return err
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		connection, err := dialer.DialContext(ctx, "tcp", l.address)
		if err != nil {
			return false, nil
		}
		return true, connection.Close()
	})
}

// Configurations returns the webhook configurations in these files with this operator's address, for
// namespace only, or "" for all.
func (l *LocalWebhooks) Configurations(namespace string, files ...string) (found []*unstructured.Unstructured, err error) {
	for _, file := range files {
		objects, err := ReadObjects(file)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
				l.redirect(object, namespace)
				found = append(found, object)
			}
		}
	}
	return found, nil
}

// redirect changes a webhook configuration in place.
func (l *LocalWebhooks) redirect(configuration *unstructured.Unstructured, namespace string) {
	for _, webhook := range MapsIn(configuration, "webhooks") {
		path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path")
		webhook["clientConfig"] = l.clientConfig(path)
		if namespace == "" {
			continue
		}
		for _, rule := range MapsIn(&unstructured.Unstructured{Object: webhook}, "rules") {
			rule["scope"] = "Namespaced" // the selector doesn't apply to other objects
		}
		only := map[string]any{"key": corev1.LabelMetadataName, "operator": "In", "values": []any{namespace}}
		all, _, _ := unstructured.NestedSlice(webhook, "namespaceSelector", "matchExpressions")
		_ = unstructured.SetNestedSlice(webhook, append(all, only), "namespaceSelector", "matchExpressions")
	}
}

// Conversion returns a CRD, from YAML, that has this operator convert objects between its versions,
// or nil if Convert changes nothing.
func (l *LocalWebhooks) Conversion(crd []byte) ([]byte, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(crd, &object.Object); err != nil {
		return nil, fmt.Errorf("CRD: %w", err)
	}
	if !l.Convert(&object) {
		return nil, nil
	}
	return yaml.Marshal(object.Object)
}

// Convert changes a CRD so that this operator converts objects between its versions, at the path that
// controller-runtime uses. It returns false if there is nothing to convert, because there is only one
// version.
//
// Leave the CRD as it is when the operator has ended. Requests that need a conversion fail then.
// Without a webhook, they would succeed: the API server would only change the apiVersion, and drop
// the fields that the other version doesn't have.
func (l *LocalWebhooks) Convert(crd *unstructured.Unstructured) bool {
	if len(MapsIn(crd, "spec", "versions")) < 2 {
		return false
	}
	crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"clientConfig":             l.clientConfig("/convert"),
			"conversionReviewVersions": []any{"v1"},
		},
	}
	return true
}

// clientConfig tells the API server where to find the operator, and whom to trust.
func (l *LocalWebhooks) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      "https://" + l.address + path,
		"caBundle": base64.StdEncoding.EncodeToString(l.ca),
	}
}

// MapsIn returns the maps in a list of an object, such as its webhooks. A change of one changes the
// object.
func MapsIn(object *unstructured.Unstructured, path ...string) (found []map[string]any) {
	list, _, _ := unstructured.NestedFieldNoCopy(object.Object, path...)
	all, _ := list.([]any)
	for _, one := range all {
		if isMap, ok := one.(map[string]any); ok {
			found = append(found, isMap)
		}
	}
	return found
}
