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
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/cert"

	"example.com/operators/scripts/internal/process"
)

// webhookHost is where the operator serves its webhooks.
const webhookHost = "127.0.0.1"

// LocalWebhooks are an operator's webhooks on this machine.
type LocalWebhooks struct {
	// Dir is the folder of the certificate, in the files tls.crt and tls.key.
	Dir string
	// Address is the host and port where the operator serves them.
	Address string

	ca []byte // PEM
}

// NewLocalWebhooks writes a certificate to dir, which it makes, and finds a free port.
func NewLocalWebhooks(dir string) (*LocalWebhooks, error) {
	certificate, key, err := cert.GenerateSelfSignedCertKey(webhookHost, nil, nil)
	if err == nil {
		err = errors.Join(
			os.MkdirAll(dir, 0o700),
			os.WriteFile(filepath.Join(dir, "tls.crt"), certificate, 0o600),
			os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600))
	}
	if err != nil {
		return nil, fmt.Errorf("certificate for webhooks: %w", err)
	}
	port, err := process.OfOperators.Free(1)
	if err != nil {
		return nil, fmt.Errorf("port for webhooks: %w", err)
	}
	local := LocalWebhooks{Dir: dir, ca: certificate}.OnPort(strconv.Itoa(port))
	return &local, nil
}

// OnPort returns the webhooks of another replica, with the same certificate.
func (l LocalWebhooks) OnPort(port string) LocalWebhooks {
	l.Address = net.JoinHostPort(webhookHost, port)
	return l
}

// Port is where the operator serves the webhooks.
func (l LocalWebhooks) Port() string {
	_, port, _ := net.SplitHostPort(l.Address)
	return port
}

// Flags are what a chapter's program must be started with.
func (l LocalWebhooks) Flags() []string {
	return []string{"--webhook-host", webhookHost, "--webhook-port", l.Port(), "--webhook-cert-path", l.Dir}
}

// Await waits until the operator answers.
func (l LocalWebhooks) Await(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 50*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		return l.Answers(ctx) == nil, nil
	})
}

// Answers returns nil if the operator answers, with its certificate.
func (l LocalWebhooks) Answers(ctx context.Context) error {
	roots, err := cert.NewPoolFromBytes(l.ca)
	if err != nil {
		return err
	}
	trust := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	dialer := tls.Dialer{NetDialer: &net.Dialer{Timeout: time.Second}, Config: trust}
	connection, err := dialer.DialContext(ctx, "tcp", l.Address)
	if err != nil {
		return err
	}
	return connection.Close()
}

// Configurations returns the webhook configurations in these files with this operator's address. They
// apply to objects in this namespace only or, if it is "", to all objects. With a namespace, they apply
// to objects without one only if those are asked for.
func (l LocalWebhooks) Configurations(
	namespace string, clusterScoped bool, files ...string,
) (found []*unstructured.Unstructured, err error) {
	for _, file := range files {
		objects, err := ReadObjects(file)
		if err != nil {
			return nil, err
		}
		for _, object := range objects {
			if !strings.HasSuffix(object.GetKind(), "WebhookConfiguration") {
				continue
			}
			for _, webhook := range MapsIn(object, "webhooks") {
				path, _, _ := unstructured.NestedString(webhook, "clientConfig", "service", "path")
				webhook["clientConfig"] = l.clientConfig(path)
				if namespace != "" {
					restrict(webhook, namespace, clusterScoped)
				}
			}
			found = append(found, object)
		}
	}
	return found, nil
}

// restrict changes a webhook so that it applies to objects in a namespace only. A selector of
// namespaces never exempts objects without one, so the rules must.
func restrict(webhook map[string]any, namespace string, clusterScoped bool) {
	only := map[string]any{"key": corev1.LabelMetadataName, "operator": "In", "values": []any{namespace}}
	all, _, _ := unstructured.NestedSlice(webhook, "namespaceSelector", "matchExpressions")
	_ = unstructured.SetNestedSlice(webhook, append(all, only), "namespaceSelector", "matchExpressions")
	if rules, _ := webhook["rules"].([]any); !clusterScoped {
		webhook["rules"] = slices.DeleteFunc(rules, func(rule any) bool {
			isForCluster := rule.(map[string]any)["scope"] == "Cluster"
			rule.(map[string]any)["scope"] = "Namespaced"
			return isForCluster
		})
	}
}

// Convert changes a CRD so that this operator converts objects between its versions, at the path that
// controller-runtime uses. It returns false if there is nothing to convert, because there is only one
// version, or because the CRD's strategy is None.
//
// Don't undo this while there are objects, not even when the operator has stopped. Requests that need
// a conversion then fail, which is better than the alternative: without a webhook, the API server
// would change only the apiVersion, and drop the fields that the other version doesn't have.
func (l LocalWebhooks) Convert(crd *unstructured.Unstructured) bool {
	strategy, _, _ := unstructured.NestedString(crd.Object, "spec", "conversion", "strategy")
	if len(MapsIn(crd, "spec", "versions")) < 2 || strategy == "None" {
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
func (l LocalWebhooks) clientConfig(path string) map[string]any {
	return map[string]any{
		"url":      "https://" + l.Address + path,
		"caBundle": base64.StdEncoding.EncodeToString(l.ca),
	}
}

// MapsIn returns the maps in a list of an object, such as its webhooks. They aren't copies, so a change
// of one changes the object.
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
