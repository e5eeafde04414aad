// An API server in memory, with just enough features to run the controller. Like a real one, it
// sets resourceVersions and UIDs, changes a status only through the status endpoint, and refuses
// stale writes. It runs no other controllers, so no Pod starts and no garbage is collected unless
// the test does that.

package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// fakeAPI is the server's handler. As in etcd, the history defines the state: the resourceVersion N
// means "after the first N events".
type fakeAPI struct {
	mu       sync.Mutex
	objects  map[string]*unstructured.Unstructured // by path
	history  []change
	changed  chan struct{} // closed and replaced when the history grows
	requests []request
	before   map[request]func() *apierrors.StatusError
}

// request has a verb, as in a role's rules, and the resource it was used on, such as
// "deployments/web".
type request struct{ verb, on string }

type change struct {
	path   string
	Type   watch.EventType            `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		objects: map[string]*unstructured.Unstructured{},
		changed: make(chan struct{}),
		before:  map[request]func() *apierrors.StatusError{},
	}
}

// beforeNext makes the server call do before it handles the next such request. If do returns an
// error, that is the response.
func (a *fakeAPI) beforeNext(verb, on string, do func() *apierrors.StatusError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before[request{verb, on}] = do
}

func (a *fakeAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	received := request{verbOf(r), resourceOf(r.URL.Path)}
	a.mu.Lock()
	a.requests = append(a.requests, received)
	before := a.before[received]
	delete(a.before, received)
	a.mu.Unlock()

	var response any
	var err *apierrors.StatusError
	if before != nil {
		err = before()
	}
	switch {
	case err != nil:
	case received.verb == "watch":
		a.watch(w, r)
		return
	case received.verb == "list":
		response = a.list(r.URL.Path, r.URL.Query())
	case received.verb == "get":
		response, err = a.get(r.URL.Path)
	default:
		response, err = a.write(r)
	}
	if err != nil {
		err.ErrStatus.Kind = "Status"
		w.WriteHeader(int(err.ErrStatus.Code))
		response = err.ErrStatus
	}
	json.NewEncoder(w).Encode(response)
}

// verbOf returns the verb that RBAC uses for a request.
func verbOf(r *http.Request) string {
	switch {
	case r.URL.Query().Has("watch"):
		return "watch"
	case r.Method == http.MethodGet && !strings.Contains(resourceOf(r.URL.Path), "/"):
		return "list"
	}
	return map[string]string{"GET": "get", "POST": "create", "PUT": "update", "DELETE": "delete"}[r.Method]
}

// resourceOf returns the part of a path after /apis/GROUP/VERSION and /namespaces/NAMESPACE, if
// there is a namespace.
func resourceOf(path string) string {
	return strings.SplitN(namespace.ReplaceAllString(path, ""), "/", 5)[4]
}

var namespace = regexp.MustCompile(`/namespaces/[^/]+`)

func (a *fakeAPI) get(path string) (*unstructured.Unstructured, *apierrors.StatusError) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if object := a.objects[path]; object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{}, path)
}

func (a *fakeAPI) list(collection string, query url.Values) *unstructured.UnstructuredList {
	a.mu.Lock()
	defer a.mu.Unlock()
	byField, _ := fields.ParseSelector(query.Get("fieldSelector"))
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	list.SetResourceVersion(strconv.Itoa(len(a.history)))
	for path, object := range a.objects {
		name, _, _ := unstructured.NestedString(object.Object, "spec", "deploymentName")
		if in(collection, path) && byField.Matches(fields.Set{"spec.deploymentName": name}) {
			list.Items = append(list.Items, *object)
		}
	}
	return list
}

// in reports whether an object is in a collection, either of its namespace or of all namespaces.
func in(collection, object string) bool {
	namespaced := path.Dir(object)
	return collection == namespaced || collection == namespace.ReplaceAllString(namespaced, "")
}

func (a *fakeAPI) watch(w http.ResponseWriter, r *http.Request) {
	for sent, _ := strconv.Atoi(r.URL.Query().Get("resourceVersion")); ; {
		a.mu.Lock()
		changed, changes := a.changed, a.history[sent:]
		a.mu.Unlock()
		for _, change := range changes {
			if in(r.URL.Path, change.path) {
				json.NewEncoder(w).Encode(change)
			}
			sent++
		}
		w.(http.Flusher).Flush()
		select {
		case <-changed:
		case <-r.Context().Done():
			return
		}
	}
}
