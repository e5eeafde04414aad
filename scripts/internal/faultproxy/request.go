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

// With keepBody, the exchange of a write has its body.
func parse(r *http.Request, keepBody bool) *exchange {
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
	unnamed := x.Verb == "create" && x.Name == ""
	if unnamed || keepBody && x.IsWrite() {
		body := peek(&r.Body)
		if unnamed {
			x.Name = metadataOf(body).Name
		}
		if keepBody {
			x.Body = string(body)
		}
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
