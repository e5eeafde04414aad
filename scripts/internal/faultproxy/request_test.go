package faultproxy

import (
	"bytes"
	"io"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"example.com/operators/scripts/internal/audit"
)

func TestParse(t *testing.T) {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "x"}}
	const inJSON = `{"metadata":{"name":"x"}}`
	inProtobuf := encode(t, runtime.ContentTypeProtobuf, object)
	for sentence, test := range map[string]struct {
		request, body string
		want          audit.Request
	}{
		"a list":                           {"GET /api/v1/namespaces/a/pods?limit=1", "", audit.Request{Verb: "list", Namespace: "a", Resource: "pods"}},
		"a watch":                          {"GET /apis/apps/v1/deployments?watch=1", "", audit.Request{Verb: "watch", Group: "apps", Resource: "deployments"}},
		"a subresource":                    {"PATCH /apis/apps/v1/namespaces/a/deployments/x/scale", "{}", audit.Request{Verb: "patch", Namespace: "a", Group: "apps", Resource: "deployments/scale", Name: "x"}},
		"a created object, in JSON":        {"POST /api/v1/namespaces/a/configmaps", inJSON, audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps", Name: "x"}},
		"a created object, in protobuf":    {"POST /api/v1/namespaces/a/configmaps", inProtobuf, audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps", Name: "x"}},
		"a created object that is rubbish": {"POST /api/v1/namespaces/a/configmaps", "k8s\x00rubbish", audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps"}},
		"no resource":                      {"GET /version", "", audit.Request{Verb: "get"}},
		"half a path":                      {"DELETE /api/v1/watch", "", audit.Request{Verb: "delete"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			method, uri, _ := strings.Cut(test.request, " ")
			request := httptest.NewRequest(method, uri, strings.NewReader(test.body))
			test.want.URI = uri
			if test.want.IsWrite() {
				test.want.Body = test.body
			}
			if diff := cmp.Diff(test.want, parse(request).Request); diff != "" {
				t.Error(diff)
			}
			if body, err := io.ReadAll(request.Body); err != nil || string(body) != test.body {
				t.Errorf("the server gets %q, error %v", body, err)
			}
		})
	}
}

func encode(t *testing.T, mediaType string, object runtime.Object) string {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	var encoded bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion).Encode(object, &encoded); err != nil {
		t.Fatal(err)
	}
	return encoded.String()
}
