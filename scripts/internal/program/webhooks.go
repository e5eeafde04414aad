package program

// How a cluster calls the webhooks of a program on this machine: with a certificate, and with
// webhook configurations and a CRD that have the program's address in place of a Service.

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/cluster"
	"example.com/operators/scripts/internal/operator"
)

// webhookHost is where the program serves its webhooks.
const webhookHost = "127.0.0.1"

// The label of all webhook configurations from this file.
const webhooksLabel, webhooksLocal = "operators.example.com/webhooks", "local"

// DeleteWebhooks deletes the webhook configurations of all programs on this machine.
func DeleteWebhooks(ctx context.Context, k cluster.Kubectl) error {
	_, err := k.Run(ctx, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations",
		"--selector", webhooksLabel+"="+webhooksLocal)
	return err
}

// PrepareWebhooks prepares the program's webhooks, with a certificate in dir. If its CRD has several
// versions, the API server calls the program for conversions from now on.
//
// The caller starts the program, waits for it by Await, and applies the configurations. Then the API
// server also calls the other webhooks, for objects in that namespace only, or in all of them if it
// is "". In the end, the caller deletes them: with failurePolicy Fail, they block all matching writes
// while no program answers.
func (p Program) PrepareWebhooks(ctx context.Context, k cluster.Kubectl, dir, namespace string) (
	local *LocalWebhooks, configurations []byte, err error) {
	if local, err = NewLocalWebhooks(dir); err != nil {
		return nil, nil, err
	}
	if configurations, err = local.configurations(p.Webhooks, namespace); err != nil {
		return nil, nil, err
	}
	crd, err := os.ReadFile(p.CRD)
	if err != nil {
		return nil, nil, err
	}
	conversion, err := local.Conversion(crd)
	if err == nil && conversion != nil {
		err = k.Apply(ctx, conversion)
	}
	return local, configurations, err
}

// LocalWebhooks are a program's webhooks on this machine.
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
	port, err := operator.FreePort()
	if err != nil {
		return nil, fmt.Errorf("port for webhooks: %w", err)
	}
	return &LocalWebhooks{dir, net.JoinHostPort(webhookHost, port), certificate}, nil
}

// Flags are what the program must be started with.
func (l *LocalWebhooks) Flags() []string {
	host, port, _ := net.SplitHostPort(l.address)
	return []string{"--webhook-host", host, "--webhook-port", port, "--webhook-cert-path", l.dir}
}

// Await waits until the program answers.
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

// configurations returns the webhook configurations in a file with this program's address, for
// namespace only, or "" for all.
func (l *LocalWebhooks) configurations(file, namespace string) ([]byte, error) {
	objects, err := operator.ReadObjects(file)
	if err != nil {
		return nil, err
	}
	objects = slices.DeleteFunc(objects, func(object *unstructured.Unstructured) bool {
		return !strings.HasSuffix(object.GetKind(), "WebhookConfiguration")
	})
	for _, configuration := range objects {
		configuration.SetLabels(map[string]string{webhooksLabel: webhooksLocal})
		for _, webhook := range mapsIn(configuration, "webhooks") {
			path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path")
			webhook["clientConfig"] = l.clientConfig(path)
			if namespace != "" {
				webhook["namespaceSelector"] = map[string]any{
					"matchLabels": map[string]any{"kubernetes.io/metadata.name": namespace},
				}
			}
		}
	}
	return writeObjects(objects)
}

// Conversion returns a CRD, from YAML, that has this program convert objects between its versions. A
// CRD with one version needs no conversion, so the result is nil.
//
// Leave the CRD as it is when the program has ended. Requests that need a conversion fail then.
// Without a webhook, they would succeed: the API server would only change the apiVersion, and drop
// the fields that the other version doesn't have.
func (l *LocalWebhooks) Conversion(crd []byte) ([]byte, error) {
	var object unstructured.Unstructured
	if err := yaml.Unmarshal(crd, &object.Object); err != nil {
		return nil, fmt.Errorf("CRD: %w", err)
	}
	if len(mapsIn(&object, "spec", "versions")) < 2 {
		return nil, nil
	}
	conversion := map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"clientConfig":             l.clientConfig("/convert"),
			"conversionReviewVersions": []any{"v1"},
		},
	}
	if err := unstructured.SetNestedMap(object.Object, conversion, "spec", "conversion"); err != nil {
		return nil, fmt.Errorf("CRD %s: %w", object.GetName(), err)
	}
	return yaml.Marshal(object.Object)
}

// clientConfig tells the API server where to find the program, and whom to trust.
func (l *LocalWebhooks) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      "https://" + l.address + path,
		"caBundle": base64.StdEncoding.EncodeToString(l.ca),
	}
}
