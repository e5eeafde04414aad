//go:build check || solution

// An API server in memory, for TDSets and Deployments. The client's requests reach it without a
// network, so that everything can run in a testing/synctest bubble. It keeps resourceVersions and
// refuses the same writes as a real one, but it runs no other controllers.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"regexp"
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
	onWrite func(verb string, object *unstructured.Unstructured) // called with each write of the program

	mu        sync.Mutex
	objects   map[id]*unstructured.Unstructured
	history   []change
	forgotten map[string]int // by resource: a watch from before this version gets 410
	grown     chan struct{}  // closed and replaced when the history grows
	down      bool           // every request gets a 500, but open watches continue
	refusing  bool           // every write of a Deployment gets a 403
	refused   int            // how many did
}

// id identifies an object. If the name is empty, it identifies a collection.
type id struct{ resource, namespace, name string }

type change struct {
	id     id
	Type   watch.EventType            `json:"type"`
	Object *unstructured.Unstructured `json:"object"`
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		objects:   map[id]*unstructured.Unstructured{},
		forgotten: map[string]int{},
		grown:     make(chan struct{}),
	}
}

var requestPath = regexp.MustCompile(`^/apis/[^/]+/[^/]+(?:/namespaces/([^/]+))?/([^/]+)(?:/([^/]+))?(/status)?$`)

// RoundTrip answers one request.
func (a *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	path := requestPath.FindStringSubmatch(r.URL.Path)
	if path == nil {
		return answer(nil, apierrors.NewNotFound(schema.GroupResource{}, r.URL.Path)), nil
	}
	target, toStatus := id{path[2], path[1], path[3]}, path[4] != ""
	query := r.URL.Query()
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.down:
		return answer(nil, apierrors.NewInternalError(errors.New("the server is down"))), nil
	case r.Method == http.MethodGet && query.Get("watch") != "":
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		return a.watch(r.Context(), target, from, query.Get("sendInitialEvents") == "true"), nil
	case r.Method == http.MethodGet && target.name == "":
		return answer(a.list(target), nil), nil
	case r.Method == http.MethodGet:
		if object := a.objects[target]; object != nil {
			return answer(object, nil), nil
		}
		return answer(nil, apierrors.NewNotFound(schema.GroupResource{}, target.name)), nil
	case a.refusing && target.resource == "deployments":
		a.refused++ // the text of a real refusal may differ each time, too
		return answer(nil, apierrors.NewForbidden(schema.GroupResource{Resource: target.resource}, target.name, fmt.Errorf("exceeded quota in attempt %d", a.refused))), nil
	}
	sent := &unstructured.Unstructured{}
	if err := json.NewDecoder(r.Body).Decode(&sent.Object); err != nil {
		return answer(nil, apierrors.NewBadRequest(err.Error())), nil
	}
	return answer(a.write(r.Method, target, toStatus, sent)), nil
}

// answer turns an object or an error into a response.
func answer(object any, err *apierrors.StatusError) *http.Response {
	code := http.StatusOK
	if err != nil {
		err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		code, object = int(err.ErrStatus.Code), err.ErrStatus
	}
	body, _ := json.Marshal(object)
	return &http.Response{
		StatusCode: code,
		Status:     fmt.Sprint(code, " ", http.StatusText(code)),
		Header:     http.Header{"Content-Type": {"application/json"}},
		Body:       io.NopCloser(bytes.NewReader(body)),
	}
}

// in reports whether an object is in a collection. Without a namespace, a collection has all of
// them.
func (object id) in(collection id) bool {
	return object.resource == collection.resource && (collection.namespace == "" || object.namespace == collection.namespace)
}

func (a *fakeAPI) list(collection id) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{Object: map[string]any{"apiVersion": "v1", "kind": "List"}}
	list.SetResourceVersion(strconv.Itoa(len(a.history)))
	for object := range a.objects {
		if object.in(collection) {
			list.Items = append(list.Items, *a.objects[object])
		}
	}
	return list
}

// watch responds with a stream of all changes after the resourceVersion sent. If initial is set, as
// informers do, the stream begins with all existing objects and a bookmark that marks their end.
func (a *fakeAPI) watch(ctx context.Context, collection id, sent int, initial bool) *http.Response {
	var first []change
	if initial {
		sent = len(a.history)
		for _, item := range a.list(collection).Items {
			first = append(first, change{Type: watch.Added, Object: &item})
		}
		end := a.bookmark(collection)
		end.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		first = append(first, change{Type: watch.Bookmark, Object: end})
	}
	if sent < a.forgotten[collection.resource] {
		return answer(nil, apierrors.NewResourceExpired("too old resource version"))
	}
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	go func() {
		defer writer.Close()
		stream := json.NewEncoder(writer)
		for _, event := range first {
			stream.Encode(event)
		}
		for {
			a.mu.Lock()
			grown, changes, lost := a.grown, a.history[sent:], sent < a.forgotten[collection.resource]
			a.mu.Unlock()
			if lost {
				return
			}
			for _, change := range changes {
				if change.id.in(collection) && stream.Encode(change) != nil {
					return
				}
				sent++
			}
			select {
			case <-grown:
			case <-time.After(time.Minute): // an idle watch gets a bookmark
				a.mu.Lock()
				idle := change{Type: watch.Bookmark, Object: a.bookmark(collection)}
				a.mu.Unlock()
				stream.Encode(idle)
			case <-ctx.Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Header: http.Header{"Content-Type": {"application/json"}}, Body: reader}
}

func (a *fakeAPI) bookmark(collection id) *unstructured.Unstructured {
	bookmark := &unstructured.Unstructured{}
	bookmark.SetAPIVersion(kinds[collection.resource].GroupVersion().String())
	bookmark.SetKind(kinds[collection.resource].Kind)
	bookmark.SetResourceVersion(strconv.Itoa(len(a.history)))
	return bookmark
}

func (a *fakeAPI) write(method string, target id, toStatus bool, sent *unstructured.Unstructured) (any, *apierrors.StatusError) {
	if method == http.MethodPost {
		target.name = sent.GetName()
	}
	old := a.objects[target]
	switch {
	case method == http.MethodPost && old != nil:
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{}, target.name)
	case method == http.MethodPost:
		a.onWrite("create", sent)
		return a.store(target, sent), nil
	case method != http.MethodPut:
		return nil, apierrors.NewForbidden(schema.GroupResource{}, target.name, errors.New("rbac.yaml doesn't allow the controller to "+method))
	case old == nil:
		return nil, apierrors.NewNotFound(schema.GroupResource{}, target.name)
	case sent.GetResourceVersion() != old.GetResourceVersion():
		return nil, apierrors.NewConflict(schema.GroupResource{}, target.name, errors.New("the object has been modified"))
	case toStatus:
		a.onWrite("update status", sent)
		updated := old.DeepCopy()
		updated.Object["status"] = sent.Object["status"]
		return a.store(target, updated), nil
	}
	a.onWrite("update", sent)
	sent.Object["status"] = old.Object["status"]
	return a.store(target, sent), nil
}

// store creates or replaces an object. It never changes one that has been returned before.
func (a *fakeAPI) store(target id, object *unstructured.Unstructured) *unstructured.Unstructured {
	eventType, old := watch.Modified, a.objects[target]
	switch {
	case old == nil:
		eventType = watch.Added
		object.SetUID(types.UID(fmt.Sprintf("uid %d", len(a.history))))
		object.SetGeneration(1)
	case !reflect.DeepEqual(object.Object["spec"], old.Object["spec"]):
		object.SetGeneration(old.GetGeneration() + 1)
	}
	a.objects[target] = object
	return a.commit(change{target, eventType, object})
}

// remove deletes an object at once, if there is one.
func (a *fakeAPI) remove(target id) {
	if object := a.objects[target]; object != nil {
		delete(a.objects, target)
		a.commit(change{target, watch.Deleted, object.DeepCopy()})
	}
}

func (a *fakeAPI) commit(c change) *unstructured.Unstructured {
	c.Object.SetResourceVersion(strconv.Itoa(len(a.history) + 1))
	a.history = append(a.history, c)
	close(a.grown)
	a.grown = make(chan struct{})
	return c.Object
}

// forget drops the history of a resource and ends its watches, which never report the rest.
func (a *fakeAPI) forget(resource string) {
	a.forgotten[resource] = len(a.history)
	close(a.grown)
	a.grown = make(chan struct{})
}
