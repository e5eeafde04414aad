// The requests that a manager sends to a real server. They are recorded in the HTTP transport, so
// no part of the program can bypass that.

package main

import (
	"net/http"
	"strings"
	"sync"
)

// traffic records requests. Its zero value is ready to use.
type traffic struct {
	lock     sync.Mutex
	requests []exchange
	hold     func(exchange, *http.Request) // called before a request is sent
}

// exchange is a request for a resource, in the terms of RBAC, and the status code of the response,
// or 0 if there was none.
type exchange struct {
	verb, group, resource string
	code                  int
}

// watch returns a RoundTripper that records the requests which it passes on to next.
func (tr *traffic) watch(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		recorded, ok := parseRequest(request)
		if ok && tr.hold != nil {
			tr.hold(recorded, request)
		}
		response, err := next.RoundTrip(request)
		if ok {
			if err == nil {
				recorded.code = response.StatusCode
			}
			tr.lock.Lock()
			defer tr.lock.Unlock()
			tr.requests = append(tr.requests, recorded)
		}
		return response, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (r roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return r(request) }

// since returns the requests since its last call.
func (tr *traffic) since() []exchange {
	tr.lock.Lock()
	defer tr.lock.Unlock()
	requests := tr.requests
	tr.requests = nil
	return requests
}

// parseRequest describes an HTTP request in the terms of RBAC. It returns false if the request
// isn't for a resource, such as discovery.
func parseRequest(request *http.Request) (exchange, bool) {
	parts := strings.Split(strings.Trim(request.URL.Path, "/"), "/")
	group := ""
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		group, parts = parts[1], parts[3:]
	default:
		return exchange{}, false
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		parts = parts[2:]
	}
	resource := parts[0]
	if len(parts) > 2 {
		resource += "/" + parts[2]
	}
	verb := map[string]string{"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}[request.Method]
	switch {
	case request.Method == "GET" && request.URL.Query().Get("watch") == "true":
		verb = "watch"
	case request.Method == "GET" && len(parts) == 1:
		verb = "list"
	case request.Method == "GET":
		verb = "get"
	}
	return exchange{verb: verb, group: group, resource: resource}, true
}
