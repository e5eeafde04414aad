package deploy

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/util/cert"

	"example.com/operators/scripts/internal/testkit"
)

// The manifests get a certificate for the webhooks' Service, and everything that calls the Service
// trusts it.
func TestWithCertificate(t *testing.T) {
	for chapter, test := range map[string]struct {
		secret, service string
		trusting        []string // objects
	}{
		"06-kubebuilder": {
			"Secret foo-operator-system/webhook-server-cert", "foo-operator-webhook-service.foo-operator-system.svc",
			[]string{"MutatingWebhookConfiguration /foo-operator-mutating-webhook-configuration", "ValidatingWebhookConfiguration /foo-operator-validating-webhook-configuration"},
		},
		"07-tdset-operator": {
			"Secret tdset-operator-system/webhook-server-cert", "tdset-operator-webhook-service.tdset-operator-system.svc",
			[]string{"CustomResourceDefinition /tdsets.schedule.rs", "ValidatingWebhookConfiguration /tdset-operator-validating-webhook-configuration"},
		},
	} {
		t.Run(chapter, func(t *testing.T) {
			given, err := os.ReadFile(filepath.Join(testkit.Repository(), chapter, "dist", "install.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			made, err := withCertificate(given)
			if err != nil {
				t.Fatal(err)
			}
			objects := parseObjects(t, string(made))
			for name, object := range objects {
				if strings.HasPrefix(object["apiVersion"].(string), "cert-manager.io/") {
					t.Errorf("%s is left, which needs cert-manager", name)
				}
			}
			var secret corev1.Secret
			decode(t, objects[test.secret], &secret)
			pair, err := tls.X509KeyPair([]byte(secret.StringData["tls.crt"]), []byte(secret.StringData["tls.key"]))
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range test.trusting {
				configs := clientConfigs(objects[name])
				if len(configs) == 0 {
					t.Errorf("%s calls nothing", name)
				}
				for _, config := range configs {
					bundle, err := base64.StdEncoding.DecodeString(config["caBundle"].(string))
					if err != nil {
						t.Fatal(err)
					}
					roots, err := cert.NewPoolFromBytes(bundle)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: test.service}); err != nil {
						t.Errorf("%s refuses the certificate: %v", name, err)
					}
				}
			}
		})
	}
}
