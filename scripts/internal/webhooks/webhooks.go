// Package webhooks lets a cluster call the webhooks of a program that runs on this machine and not in the cluster: it makes a
// certificate for the program, and webhook configurations with its address in place of a Service's. Starting the program, and
// applying and deleting the configurations, is left to the caller. With failurePolicy Fail, what is applied while no program
// answers blocks every write that it is about.
package webhooks

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/yaml"

	"example.com/operators/scripts/internal/kubectl"
)

const host = "127.0.0.1"

// Label is on every configuration that this package makes.
const Label = "operators.example.com/webhooks=local"

// Delete deletes every configuration that this package has made, on the cluster of k.
func Delete(ctx context.Context, k kubectl.Kubectl) error {
	_, err := k.Run(ctx, "delete", "mutatingwebhookconfigurations,validatingwebhookconfigurations", "--selector", Label)
	return err
}

// Local is where a program on this machine serves webhooks.
type Local struct {
	dir  string // of the certificate
	port int
	ca   []byte // PEM
}

// New makes a certificate in dir, which must exist, and finds a free port.
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

// Flags are the program's.
func (l *Local) Flags() []string {
	return []string{"--enable-webhooks", "--webhook-host", host, "--webhook-port", strconv.Itoa(l.port), "--webhook-cert-path", l.dir}
}

// Await returns when the program answers, or ctx ends.
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

// Configurations returns the webhook configurations among manifests, which is YAML, as they are to be applied: they call this
// program, about objects in namespace only ("" means all).
func (l *Local) Configurations(manifests []byte, namespace string) ([]byte, error) {
	var made bytes.Buffer
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifests)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return made.Bytes(), nil
		}
		if err != nil {
			return nil, fmt.Errorf("webhook configurations: %w", err)
		}
		configuration, err := l.configuration(document, namespace)
		if err != nil {
			return nil, fmt.Errorf("webhook configurations: %w", err)
		}
		if configuration == nil {
			continue
		}
		content, err := yaml.Marshal(configuration)
		if err != nil {
			return nil, err
		}
		made.WriteString("---\n")
		made.Write(content)
	}
}

// configuration returns the object in document, changed, or nil if it is no webhook configuration.
func (l *Local) configuration(document []byte, namespace string) (metav1.Object, error) {
	var kind metav1.TypeMeta
	if err := yaml.Unmarshal(document, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "MutatingWebhookConfiguration":
		var found admissionv1.MutatingWebhookConfiguration
		err := yaml.Unmarshal(document, &found)
		for i := range found.Webhooks {
			l.pointHere(&found.Webhooks[i].ClientConfig, &found.Webhooks[i].NamespaceSelector, namespace)
		}
		return labelled(&found), err
	case "ValidatingWebhookConfiguration":
		var found admissionv1.ValidatingWebhookConfiguration
		err := yaml.Unmarshal(document, &found)
		for i := range found.Webhooks {
			l.pointHere(&found.Webhooks[i].ClientConfig, &found.Webhooks[i].NamespaceSelector, namespace)
		}
		return labelled(&found), err
	}
	return nil, nil
}

func labelled(object metav1.Object) metav1.Object {
	object.SetLabels(map[string]string{"operators.example.com/webhooks": "local"})
	return object
}

// pointHere changes a webhook so that it is this program's.
func (l *Local) pointHere(config *admissionv1.WebhookClientConfig, selector **metav1.LabelSelector, namespace string) {
	path := "/"
	if config.Service != nil && config.Service.Path != nil {
		path = *config.Service.Path
	}
	url := "https://" + net.JoinHostPort(host, strconv.Itoa(l.port)) + path
	*config = admissionv1.WebhookClientConfig{URL: &url, CABundle: l.ca}
	if namespace != "" {
		*selector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": namespace}}
	}
}
