package program

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"

	"example.com/operators/scripts/internal/operator"
)

// parseObjects returns objects by kind and name.
func parseObjects(t *testing.T, manifests string) map[string]*unstructured.Unstructured {
	t.Helper()
	file := filepath.Join(t.TempDir(), "objects.yaml")
	must(t, os.WriteFile(file, []byte(manifests), 0o600))
	all, err := operator.ReadObjects(file)
	must(t, err)
	objects := map[string]*unstructured.Unstructured{}
	for _, object := range all {
		objects[object.GetKind()+" "+object.GetName()] = object
	}
	return objects
}

func decode(t *testing.T, object *unstructured.Unstructured, into any) {
	t.Helper()
	must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify checks that a CA, in base64, trusts the Secret's certificate for a Service.
func verify(t *testing.T, certificate, key []byte, ca, service string) {
	t.Helper()
	pair, err := tls.X509KeyPair(certificate, key)
	must(t, err)
	bundle, err := base64.StdEncoding.DecodeString(ca)
	must(t, err)
	roots, err := cert.NewPoolFromBytes(bundle)
	must(t, err)
	if _, err := pair.Leaf.Verify(x509.VerifyOptions{Roots: roots, DNSName: service}); err != nil {
		t.Errorf("the API server would refuse the certificate: %v", err)
	}
}

// The manifests get a certificate for the webhooks' Service, and everything that calls the Service
// trusts it.
func TestWithCertificate(t *testing.T) {
	made, err := withCertificate(filepath.Join(projectDir("07-tdset-operator"), "dist", "install.yaml"))
	must(t, err)
	if strings.Contains(string(made), `"cert-manager.io/v1"`) {
		t.Error("an object is left that needs cert-manager")
	}
	objects := parseObjects(t, string(made))
	var secret corev1.Secret
	decode(t, objects["Secret webhook-server-cert"], &secret)
	trusting := 0
	for _, object := range objects {
		for _, config := range clientConfigs(object) {
			trusting++
			verify(t, []byte(secret.StringData["tls.crt"]), []byte(secret.StringData["tls.key"]),
				fmt.Sprint(config["caBundle"]), "tdset-operator-webhook-service.tdset-operator-system.svc")
		}
	}
	if trusting != 2 {
		t.Errorf("%d objects call the webhooks, want the CRD and the webhook configuration", trusting)
	}
}
