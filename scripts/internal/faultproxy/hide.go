package faultproxy

// An API group that isn't there yet, as before its CRD is created.

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"

	apidiscoveryv2 "k8s.io/api/apidiscovery/v2"

	"example.com/operators/scripts/internal/audit"
)

// Hide answers as if the API server didn't know this API group, until Stop: 404 for its objects, and
// a discovery without it. Hits: answers.
func (p *Proxy) Hide(group string) *Fault {
	fault := newFault("Hide")
	root := "/apis/" + group
	return p.enforce(fault,
		&rule{at: asked, matches: []Match{func(r audit.Request) bool {
			return path(r) == root || strings.HasPrefix(path(r), root+"/")
		}}, act: func(x *exchange) error {
			return failure(x, http.StatusNotFound)
		}},
		&rule{at: answered, matches: []Match{isDiscovery}, act: func(x *exchange) error {
			return withoutGroup(x.response, group)
		}})
}

func isDiscovery(r audit.Request) bool { return strings.TrimSuffix(path(r), "/") == "/apis" }

// withoutGroup removes a group from the answer to /apis, an APIGroupDiscoveryList.
func withoutGroup(response *http.Response, group string) error {
	var list apidiscoveryv2.APIGroupDiscoveryList
	if err := json.Unmarshal(peek(&response.Body), &list); err != nil {
		return err
	}
	list.Items = slices.DeleteFunc(list.Items, func(item apidiscoveryv2.APIGroupDiscovery) bool {
		return item.Name == group
	})
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
