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
	const create = "POST /api/v1/namespaces/a/configmaps"
	for sentence, test := range map[string]struct {
		request, body string
		want          audit.Request
	}{
		"a list": {
			request: "GET /api/v1/namespaces/a/pods?limit=1",
			want:    audit.Request{Verb: "list", Namespace: "a", Resource: "pods"},
		},
		"a watch": {
			request: "GET /apis/apps/v1/deployments?watch=1",
			want:    audit.Request{Verb: "watch", Group: "apps", Resource: "deployments"},
		},
		"a subresource": {
			request: "PATCH /apis/apps/v1/namespaces/a/deployments/x/scale", body: "{}",
			want: audit.Request{Verb: "patch", Namespace: "a", Group: "apps", Resource: "deployments/scale", Name: "x"},
		},
		"a created object, in JSON": {
			request: create, body: `{"metadata":{"name":"x"}}`,
			want: audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps", Name: "x"},
		},
		"a created object, in protobuf": {
			request: create, body: inProtobuf(t, object),
			want: audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps", Name: "x"},
		},
		"a created object that is rubbish": {
			request: create, body: "k8s\x00rubbish",
			want: audit.Request{Verb: "create", Namespace: "a", Resource: "configmaps"},
		},
		"no resource": {request: "GET /version", want: audit.Request{Verb: "get"}},
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

func inProtobuf(t *testing.T, object runtime.Object) string {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), runtime.ContentTypeProtobuf)
	encoder := scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion)
	var encoded bytes.Buffer
	if err := encoder.Encode(object, &encoded); err != nil {
		t.Fatal(err)
	}
	return encoded.String()
}
