// Package webhooks lets a cluster call the webhooks of a program on this machine. It makes a
// certificate, and webhook configurations and CRDs with the program's address in place of a Service.
// The caller starts the program, applies both, and deletes the configurations. With failurePolicy
// Fail, they block all matching writes while no program answers.
package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/kubectl"
)

const host = "127.0.0.1"

// Label is the label of all configurations from this package.
const Label = "operators.example.com/webhooks=local"

// Delete deletes all configurations from this package on the cluster of k.
func Delete(ctx context.Context, k kubectl.Kubectl) error {
	_, err := k.Run(ctx, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "--selector", Label)
	return err
}

// Prepare prepares the webhooks that a program declares in the file manifests, with a certificate in
// dir. If its CRD has several versions, the API server calls the program for conversions from now on.
// Once configurations are applied, it also calls the other webhooks, for objects in that namespace
// only, or in all of them if it is "". The program must answer by then: see Await.
func Prepare(ctx context.Context, k kubectl.Kubectl, manifests, crd, dir, namespace string) (
	local *Local, configurations []byte, err error) {
	declared, err := os.ReadFile(manifests)
	if err != nil {
		return nil, nil, err
	}
	kind, err := os.ReadFile(crd)
	if err != nil {
		return nil, nil, err
	}
	if local, err = New(dir); err != nil {
		return nil, nil, err
	}
	if configurations, err = local.Configurations(declared, namespace); err != nil {
		return nil, nil, err
	}
	conversion, err := local.Conversion(kind)
	if err == nil && conversion != nil {
		err = k.Apply(ctx, conversion)
	}
	return local, configurations, err
}

type Local struct {
	dir  string // of the certificate
	port int
	ca   []byte // PEM
}

// New writes a certificate to dir, which must exist, and finds a free port.
func New(dir string) (*Local, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(host, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("certificate for webhooks: %w", err)
	}
	for name, content := range map[string][]byte{"tls.crt": certificate, "tls.key": key} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			return nil, fmt.Errorf("certificate for webhooks: %w", err)
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, fmt.Errorf("port for webhooks: %w", err)
	}
	defer listener.Close()
	return &Local{dir, listener.Addr().(*net.TCPAddr).Port, certificate}, nil
}

func (l *Local) Flags() []string {
	return []string{"--webhook-host", host, "--webhook-port", strconv.Itoa(l.port), "--webhook-cert-path", l.dir}
}

func (l *Local) Await(ctx context.Context) error {
	roots, err := cert.NewPoolFromBytes(l.ca)
	if err != nil {
		return err
	}
	dialer := tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: host, MinVersion: tls.VersionTLS12}}
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		connection, err := dialer.DialContext(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(l.port)))
		if err != nil {
			return false, nil
		}
		return true, connection.Close()
	})
}

// Configurations returns manifests' webhook configurations with this program's address, for
// namespace only, or "" for all.
func (l *Local) Configurations(manifests []byte, namespace string) ([]byte, error) {
	var made bytes.Buffer
	documents := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096)
	for {
		var object unstructured.Unstructured
		err := documents.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			return made.Bytes(), nil
		}
		if err == nil && strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
			var content []byte
			if err = l.pointHere(object, namespace); err == nil {
				content, err = yaml.Marshal(object.Object)
			}
			made.WriteString("---\n" + string(content))
		}
		if err != nil {
			return nil, fmt.Errorf("webhook configurations: %w", err)
		}
	}
}

// Conversion returns a CRD, from YAML, that has this program convert objects between its versions. A
// CRD with one version needs no conversion, so the result is nil.
//
// Leave the CRD as it is when the program has ended. Requests that need a conversion fail then.
// Without a webhook, they would succeed: the API server would only change the apiVersion, and drop
// the fields that the other version doesn't have.
func (l *Local) Conversion(crd []byte) ([]byte, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(crd, &object.Object); err != nil {
		return nil, fmt.Errorf("CRD: %w", err)
	}
	if versions, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions"); len(versions) < 2 {
		return nil, nil
	}
	conversion := map[string]any{
		"strategy": "Webhook",
		"webhook":  map[string]any{"clientConfig": l.clientConfig("/convert"), "conversionReviewVersions": []any{"v1"}},
	}
	if err := unstructured.SetNestedMap(object.Object, conversion, "spec", "conversion"); err != nil {
		return nil, fmt.Errorf("CRD %s: %w", object.GetName(), err)
	}
	return yaml.Marshal(object.Object)
}

// clientConfig tells the API server where to find the program, and whom to trust.
func (l *Local) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      "https://" + net.JoinHostPort(host, strconv.Itoa(l.port)) + path,
		"caBundle": base64.StdEncoding.EncodeToString(l.ca),
	}
}

func (l *Local) pointHere(configuration unstructured.Unstructured, namespace string) error {
	key, value, _ := strings.Cut(Label, "=")
	configuration.SetLabels(map[string]string{key: value})
	webhooks, _, err := unstructured.NestedSlice(configuration.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, webhook := range webhooks {
		webhook, ok := webhook.(map[string]any)
		if !ok {
			return fmt.Errorf("%s: a webhook is %v", configuration.GetName(), webhook)
		}
		path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path") // "" if there is none
		webhook["clientConfig"] = l.clientConfig(cmp.Or(path, "/"))
		if namespace != "" {
			webhook["namespaceSelector"] = map[string]any{"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace}}
		}
	}
	return unstructured.SetNestedSlice(configuration.Object, webhooks, "webhooks")
}
