//go:build check || solution

// An API server in memory, for Foos and Deployments. The operator's requests reach it without a
// network, so that everything can run in a testing/synctest bubble, where a minute takes no time.
// It can be slow to send the existing objects, and it has an audit log.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// fakeAPI is the server. The resourceVersion N means "after the first N changes in history".
type fakeAPI struct {
	mu      sync.Mutex
	objects map[id]*unstructured.Unstructured
	history []change
	grown   chan struct{}            // closed and replaced when the history grows
	delay   map[string]time.Duration // by resource: before a watch sends the existing objects
	down    map[string]bool          // by resource: each list or watch gets a 500
	audit   []string                 // one line for each request, as "METHOD URI  code"
	writes  []string                 // the same for each write, as "METHOD name code"
}

// id identifies an object. If the name is empty, it identifies a collection in all namespaces.
type id struct{ resource, name string }

type change struct {
	id     id
	Type   watch.EventType            `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		objects: map[id]*unstructured.Unstructured{},
		grown:   make(chan struct{}),
		delay:   map[string]time.Duration{},
		down:    map[string]bool{},
	}
}

var requestPath = regexp.MustCompile(`^/apis/[^/]+/[^/]+(?:/namespaces/[^/]+)?/([^/]+)(?:/([^/]+))?$`)

// RoundTrip answers one request.
func (a *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	response := a.answer(r)
	a.audit = append(a.audit, fmt.Sprintf("%-6s %s  %d", r.Method, r.URL.RequestURI(), response.StatusCode))
	return response, nil
}

func (a *fakeAPI) answer(r *http.Request) *http.Response {
	path := requestPath.FindStringSubmatch(r.URL.Path)
	if path == nil {
		return failure(apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path))
	}
	target, query := id{path[1], path[2]}, r.URL.Query()
	old := a.objects[target]
	switch {
	case r.Method == http.MethodGet && target.name == "" && a.down[target.resource]:
		return failure(apierrors.NewInternalError(errors.New("etcd has no leader")))
	case r.Method == http.MethodGet && query.Get("watch") != "":
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		return a.watch(r.Context(), target.resource, from, query.Get("sendInitialEvents") == "true")
	case r.Method == http.MethodGet && target.name == "":
		list := &unstructured.UnstructuredList{Object: map[string]any{
			"apiVersion": kinds[target.resource].GroupVersion().String(), "kind": kinds[target.resource].Kind + "List",
		}}
		list.SetResourceVersion(strconv.Itoa(len(a.history)))
		for _, item := range a.items(target.resource) {
			list.Items = append(list.Items, *item.Object)
		}
		return success(list)
	case r.Method == http.MethodGet && old != nil:
		return success(old)
	case r.Method == http.MethodGet:
		return failure(apierrors.NewNotFound(schema.GroupResource{Group: "apps", Resource: target.resource}, target.name))
	}
	sent := &unstructured.Unstructured{}
	if err := json.NewDecoder(r.Body).Decode(&sent.Object); err != nil {
		return failure(apierrors.NewBadRequest(err.Error()))
	}
	if r.Method == http.MethodPost {
		target.name = sent.GetName()
	}
	response := a.write(r.Method, target, sent)
	a.writes = append(a.writes, fmt.Sprint(r.Method, " ", target.name, " ", response.StatusCode))
	return response
}

func (a *fakeAPI) write(method string, target id, sent *unstructured.Unstructured) *http.Response {
	resource := schema.GroupResource{Group: "apps", Resource: target.resource}
	switch old := a.objects[target]; {
	case method == http.MethodPost && old != nil:
		return failure(apierrors.NewAlreadyExists(resource, target.name))
	case method == http.MethodPost:
		return respond(http.StatusCreated, a.store(target, sent))
	case old == nil:
		return failure(apierrors.NewNotFound(resource, target.name))
	case method == http.MethodDelete:
		a.remove(target)
		return success(metav1.Status{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusSuccess})
	case sent.GetResourceVersion() != old.GetResourceVersion():
		return failure(apierrors.NewConflict(resource, target.name, errors.New("the object has been modified")))
	}
	return success(a.store(target, sent))
}

// items returns an event for each object of a collection, sorted by name.
func (a *fakeAPI) items(resource string) (items []change) {
	for target, object := range a.objects {
		if target.resource == resource {
			items = append(items, change{target, watch.Added, object})
		}
	}
	slices.SortFunc(items, func(a, b change) int { return bytes.Compare([]byte(a.id.name), []byte(b.id.name)) })
	return items
}

// watch sends all changes after the version sent. If initial is set, which informers do, it begins
// with all existing objects, after a delay, and a bookmark that marks their end.
func (a *fakeAPI) watch(ctx context.Context, resource string, sent int, initial bool) *http.Response {
	var first []change
	if initial {
		sent = len(a.history)
		end := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kinds[resource].GroupVersion().String(), "kind": kinds[resource].Kind}}
		end.SetResourceVersion(strconv.Itoa(sent))
		end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		first = append(a.items(resource), change{Type: watch.Bookmark, Object: end})
	}
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	delay := time.After(a.delay[resource])
	go func() {
		defer writer.Close()
		select {
		case <-delay:
		case <-ctx.Done():
			return
		}
		stream := json.NewEncoder(writer)
		for _, event := range first {
			stream.Encode(event)
		}
		for {
			a.mu.Lock()
			grown, changes := a.grown, a.history[sent:]
			a.mu.Unlock()
			for _, change := range changes {
				if change.id.resource == resource && stream.Encode(change) != nil {
					return
				}
				sent++
			}
			select {
			case <-grown:
			case <-ctx.Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}}, Body: reader}
}

// store creates or replaces an object. It never changes one that has been returned before.
func (a *fakeAPI) store(target id, object *unstructured.Unstructured) *unstructured.Unstructured {
	eventType := watch.Modified
	object.SetGroupVersionKind(kinds[target.resource])
	if a.objects[target] == nil {
		eventType = watch.Added
		object.SetUID(types.UID(fmt.Sprintf("uid %d", len(a.history))))
		object.SetCreationTimestamp(metav1.Now())
	}
	a.objects[target] = object
	return a.commit(change{target, eventType, object})
}

func (a *fakeAPI) remove(target id) {
	object := a.objects[target].DeepCopy()
	delete(a.objects, target)
	a.commit(change{target, watch.Deleted, object})
}

func (a *fakeAPI) commit(c change) *unstructured.Unstructured {
	c.Object.SetResourceVersion(strconv.Itoa(len(a.history) + 1))
	a.history = append(a.history, c)
	close(a.grown)
	a.grown = make(chan struct{})
	return c.Object
}

func success(object any) *http.Response { return respond(http.StatusOK, object) }

func failure(err *apierrors.StatusError) *http.Response {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return respond(int(err.ErrStatus.Code), err.ErrStatus)
}

func respond(code int, object any) *http.Response {
	body, _ := json.Marshal(object)
	return &http.Response{
		StatusCode: code,
		Status:     fmt.Sprint(code, " ", http.StatusText(code)),
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
	}
}
