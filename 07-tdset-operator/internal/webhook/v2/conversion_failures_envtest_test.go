// The failures that VERSIONS.md describes: the API server can't convert TDSets, because nobody
// answers, or because one of them can't be converted.

package v2

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	schedulev1 "example.com/operators/07-tdset-operator/api/v1"
	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
)

// Whatever is wrong with the webhook, only requests in the version that isn't stored fail.
func TestNobodyConverts(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	must(t, api.Create(t.Context(), aTDSet(in(namespace))))
	inV1 := func(ctx context.Context) error {
		return api.List(ctx, &schedulev1.TDSetList{}, client.InNamespace(namespace), client.Limit(1))
	}
	t.Cleanup(func() {
		atLast(t, "the webhook converts again", func(ctx context.Context) bool { return inV1(ctx) == nil })
	})
	const day = 24 * time.Hour
	for _, test := range []struct {
		sentence string
		certFor  time.Duration // until the certificate expires
		handler  http.Handler  // nil if nobody answers
		want     string
	}{
		{"the webhook is down", day, nil, "connect: connection refused"},
		{"its certificate has expired", -time.Hour, http.NotFoundHandler(), "x509: certificate has expired or is not yet valid"},
		{"the operator is one from before v2", day, http.NotFoundHandler(), "the server could not find the requested resource"},
	} {
		t.Run(test.sentence, func(t *testing.T) {
			url, ca := converter(t, test.certFor, test.handler)
			changeCRD(t, api, func(crd *apiextensionsv1.CustomResourceDefinition) {
				crd.Spec.Conversion.Webhook.ClientConfig = &apiextensionsv1.WebhookClientConfig{URL: &url, CABundle: ca}
			})
			eventually(t, "a list in v1 fails: "+test.want, func(ctx context.Context) bool {
				err := inV1(ctx)
				return err != nil && strings.Contains(err.Error(), test.want)
			})
			must(t, api.List(t.Context(), &schedulev2.TDSetList{}, client.InNamespace(namespace)))
		})
	}
}

// A TDSet that was stored before the schema refused it makes every list fail, but only in the version
// that isn't stored. So it can be corrected in the other one.
func TestOneTDSetCannotBeConverted(t *testing.T) {
	api, _, namespace := newAPIServer(t)
	good, bad := aTDSet(in(namespace)), aTDSet(in(namespace), func(tdset *schedulev2.TDSet) { tdset.Name = "bad" })
	must(t, api.Create(t.Context(), good))
	must(t, api.Create(t.Context(), bad))
	setPort := func(ctx context.Context, port string) error {
		patch := `{"spec":{"container":{"port":` + port + `}}}`
		return api.Patch(ctx, bad.DeepCopy(), client.RawPatch(types.MergePatchType, []byte(patch)))
	}
	t.Run("without a schema, the API server stores it", func(t *testing.T) {
		changeCRD(t, api, func(crd *apiextensionsv1.CustomResourceDefinition) {
			for i := range crd.Spec.Versions {
				anything := &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}
				crd.Spec.Versions[i].Schema.OpenAPIV3Schema = anything
			}
		})
		eventually(t, "the port is a name", func(ctx context.Context) bool {
			_ = setPort(ctx, `"http"`) // the answer can't be decoded
			stored := &unstructured.Unstructured{}
			stored.SetGroupVersionKind(schedulev2.GroupVersion.WithKind("TDSet"))
			must(t, api.Get(ctx, client.ObjectKeyFromObject(bad), stored))
			port, _, _ := unstructured.NestedFieldNoCopy(stored.Object, "spec", "container", "port")
			return port == "http"
		})
	})

	list := func(version string) error {
		found := &unstructured.UnstructuredList{}
		found.SetAPIVersion("schedule.rs/" + version)
		found.SetKind("TDSetList")
		return api.List(t.Context(), found, client.InNamespace(namespace), client.Limit(500))
	}
	if err := list("v1"); err == nil || !strings.Contains(err.Error(), "cannot unmarshal string into Go struct field") {
		t.Errorf("a list in v1: got the error %v", err)
	}
	must(t, list("v2"))
	must(t, api.Get(t.Context(), client.ObjectKeyFromObject(good), &schedulev1.TDSet{}))

	must(t, setPort(t.Context(), "8080"))
	must(t, list("v1"))
}

// changeCRD changes the CRD until the end of the test.
func changeCRD(t *testing.T, api client.Client, change func(*apiextensionsv1.CustomResourceDefinition)) {
	t.Helper()
	key := client.ObjectKey{Name: "tdsets.schedule.rs"}
	update := func(ctx context.Context, change func(*apiextensionsv1.CustomResourceDefinition)) bool {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if api.Get(ctx, key, crd) != nil {
			return false
		}
		change(crd)
		return api.Update(ctx, crd) == nil // else, somebody else has updated the status
	}
	original := &apiextensionsv1.CustomResourceDefinition{}
	must(t, api.Get(t.Context(), key, original))
	eventually(t, "the CRD is changed", func(ctx context.Context) bool { return update(ctx, change) })
	t.Cleanup(func() {
		atLast(t, "the CRD is as before", func(ctx context.Context) bool {
			return update(ctx, func(crd *apiextensionsv1.CustomResourceDefinition) { crd.Spec = original.Spec })
		})
		atLast(t, "TDSets can be read", func(ctx context.Context) bool {
			return api.List(ctx, &schedulev2.TDSetList{}, client.Limit(1)) == nil
		})
	})
}

// converter serves the handler at a URL whose certificate, which is also the CA, expires after that
// time.
func converter(t *testing.T, expiresIn time.Duration, handler http.Handler) (url string, ca []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(expiresIn),
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	must(t, err)
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{certificate}, PrivateKey: key}}}
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // of handshakes that fail
	server.StartTLS()
	if handler == nil {
		server.Close()
	}
	t.Cleanup(server.Close)
	return server.URL + "/convert", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
}
