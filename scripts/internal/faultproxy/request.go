package faultproxy

// What a request is about, read from its URL as the API server does, and from the body of a write.

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"

	"example.com/operators/scripts/internal/audit"
)

var apiPaths = request.RequestInfoFactory{
	APIPrefixes:          sets.NewString("api", "apis"),
	GrouplessAPIPrefixes: sets.NewString("api"),
}

func parse(r *http.Request) *exchange {
	info, err := apiPaths.NewRequestInfo(r)
	if err != nil { // the server will answer what is wrong with it
		info = &request.RequestInfo{Verb: strings.ToLower(r.Method)}
	}
	x := &exchange{Request: audit.Request{
		Verb:      info.Verb,
		URI:       r.RequestURI,
		Namespace: info.Namespace,
		Group:     info.APIGroup,
		Resource:  info.Resource,
		Name:      info.Name,
		UserAgent: r.UserAgent(),
	}}
	if info.Subresource != "" {
		x.Resource += "/" + info.Subresource
	}
	if x.IsWrite() {
		x.Body = string(peek(&r.Body))
	}
	if x.Verb == "create" && x.Name == "" {
		x.Name = metadataOf([]byte(x.Body)).Name
	}
	return x
}

// peek returns what a body contains. The body can be read again.
func peek(body *io.ReadCloser) []byte {
	content, err := io.ReadAll(*body)
	*body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(content), *body), *body} // if reading failed, it fails again
	if err != nil {
		return nil
	}
	return content
}

// metadataOf returns the metadata of the object in a body, JSON or protobuf. It is empty if there
// is none.
func metadataOf(body []byte) metav1.ObjectMeta {
	var object metav1.PartialObjectMetadata
	if raw, found := bytes.CutPrefix(body, []byte("k8s\x00")); found { // protobuf's envelope
		var envelope runtime.Unknown
		if envelope.Unmarshal(raw) != nil || object.Unmarshal(envelope.Raw) != nil {
			return metav1.ObjectMeta{}
		}
	} else if json.Unmarshal(body, &object) != nil {
		return metav1.ObjectMeta{}
	}
	return object.ObjectMeta
}
