package faultproxy

// An API group that isn't there yet, as before its CRD is created.

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/operators/scripts/internal/audit"
)

// Hide answers as if the API server didn't know this API group, until Stop: 404 for its objects, and
// a discovery without it. Hits: answers.
func (p *Proxy) Hide(group string) *Fault {
	fault := newFault("Hide")
	path := "/apis/" + group
	return p.enforce(fault,
		&rule{at: asked, left: Unlimited, matches: []Match{func(r audit.Request) bool {
			return r.URI == path || strings.HasPrefix(r.URI, path+"/") || strings.HasPrefix(r.URI, path+"?")
		}}, act: func(*exchange) error {
			return apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{Group: group}, "", "404 page not found", 0, true)
		}},
		&rule{at: read, left: Unlimited, matches: []Match{isDiscovery}, act: func(x *exchange) error { return withoutGroup(x.response, group) }})
}

func isDiscovery(r audit.Request) bool {
	parsed, err := url.ParseRequestURI(r.URI)
	return err == nil && strings.TrimSuffix(parsed.Path, "/") == "/apis"
}

// withoutGroup removes a group from the answer to /apis: the aggregated discovery or the older list.
func withoutGroup(response *http.Response, group string) error {
	var list map[string]any
	if err := json.Unmarshal(peek(&response.Body), &list); err != nil {
		return err
	}
	named := func(entry any, path ...string) bool {
		for _, field := range path {
			fields, _ := entry.(map[string]any)
			entry = fields[field]
		}
		return entry == group
	}
	for key, path := range map[string][]string{"items": {"metadata", "name"}, "groups": {"name"}} {
		if entries, found := list[key].([]any); found {
			list[key] = slices.DeleteFunc(entries, func(entry any) bool { return named(entry, path...) })
		}
	}
	content, err := json.Marshal(list)
	if err != nil {
		return err
	}
	response.Body = io.NopCloser(bytes.NewReader(content))
	response.ContentLength = int64(len(content))
	response.Header.Del("Content-Length")
	response.Header.Del("Etag") // it is that of the whole list
	return nil
}
