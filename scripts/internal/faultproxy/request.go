// What a request is about, in the terms of the API: read from its URL as the API server itself does, and from its body where
// the URL doesn't say it.

package faultproxy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
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
	if err != nil {
		info = &request.RequestInfo{Verb: strings.ToLower(r.Method)} // the server will say what is wrong with it
	}
	x := &exchange{user: userOf(r.Header.Get("Authorization")), Request: audit.Request{
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
	if x.Verb == "create" && x.Name == "" {
		x.Name = nameInBody(r)
	}
	return x
}

// nameInBody returns the name of the object that a request brings. The body can be read again afterwards.
func nameInBody(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body)) // r.Body repeats err, if there is one
	if err != nil {
		return ""
	}
	var object metav1.PartialObjectMetadata
	if raw, found := bytes.CutPrefix(body, []byte("k8s\x00")); found { // protobuf's envelope
		var envelope runtime.Unknown
		if envelope.Unmarshal(raw) != nil || object.Unmarshal(envelope.Raw) != nil {
			return ""
		}
	} else if json.Unmarshal(body, &object) != nil {
		return ""
	}
	return object.Name
}

// groupResource names the resource as errors do, without its subresource.
func (x *exchange) groupResource() schema.GroupResource {
	resource, _, _ := strings.Cut(x.Resource, "/")
	return schema.GroupResource{Group: x.Group, Resource: resource}
}

// userOf returns whom a ServiceAccount's token names. Nothing is verified: that is the server's business.
func userOf(authorization string) string {
	token := strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
	var claims struct {
		Subject string `json:"sub"`
	}
	if len(token) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(token[1]); err == nil {
			_ = json.Unmarshal(payload, &claims) // another kind of token: nobody
		}
	}
	return claims.Subject
}

// spared reports whether single-request faults leave a request alone: a Lease or an Event.
func spared(r audit.Request) bool {
	resource, _, _ := strings.Cut(r.Resource, "/")
	return slices.Contains([]string{"leases.coordination.k8s.io", "events.", "events.events.k8s.io"}, resource+"."+r.Group)
}

func isWrite(r audit.Request) bool { return r.Resource != "" && r.IsWrite() && !spared(r) }
