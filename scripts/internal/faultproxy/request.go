// What a request is about, read from its URL as the API server does, and for a create from its
// body.

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
	if err != nil { // the server will answer what is wrong with it
		info = &request.RequestInfo{Verb: strings.ToLower(r.Method)}
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

// nameInBody returns the name of the object in a request's body. The body can be read again.
func nameInBody(r *http.Request) string {
	body, err := io.ReadAll(r.Body)
	r.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), r.Body))
	if err != nil { // r.Body returns it again
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

// groupResource returns the resource without its subresource, as errors name it.
func (x *exchange) groupResource() schema.GroupResource {
	resource, _, _ := strings.Cut(x.Resource, "/")
	return schema.GroupResource{Group: x.Group, Resource: resource}
}

// userOf returns the subject of a ServiceAccount's token. Verifying it is left to the server.
func userOf(authorization string) string {
	token := strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
	var claims struct {
		Subject string `json:"sub"`
	}
	if len(token) == 3 {
		if payload, err := base64.RawURLEncoding.DecodeString(token[1]); err == nil {
			_ = json.Unmarshal(payload, &claims) // other tokens have no subject
		}
	}
	return claims.Subject
}

// spared reports whether single-request faults leave a request alone, because it is about a Lease
// or an Event.
func spared(r audit.Request) bool {
	resource, _, _ := strings.Cut(r.Resource, "/")
	return slices.Contains([]string{"leases.coordination.k8s.io", "events.", "events.events.k8s.io"}, resource+"."+r.Group)
}

func isWrite(r audit.Request) bool { return r.Resource != "" && r.IsWrite() && !spared(r) }
