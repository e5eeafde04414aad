//go:build check || solution

// An API server in memory, for Foos and Deployments. The operator's requests reach it without a
// network, so that everything can run in a testing/synctest bubble, where an hour takes no time. It
// ends watches, forgets history and sends bookmarks like a real one, and it has an audit log.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// longestWatch limits a watch's timeoutSeconds, as a load balancer in front of the API server does.
const longestWatch = 10 * time.Minute

// fakeAPI is the server. The resourceVersion N means "after the first N changes in history". It
// begins at 100, because other objects have changed before.
type fakeAPI struct {
	mu        sync.Mutex
	objects   map[string]map[string]any // by path
	history   []change
	forgotten int           // a watch from before this version gets 410
	changed   chan struct{} // closed and replaced by each change
	cut       chan struct{} // closed and replaced: each open watch breaks off in the middle of an event
	gone      chan struct{} // closed and replaced: each open watch ends with a 410
	watching  bool          // a watch is open
	down      bool          // every request gets a 500
	audit     []string      // one line for each request
}

type change struct {
	path   string
	Type   watch.EventType `json:"type"`
	Object map[string]any  `json:"object"`
}

func newFakeAPI() *fakeAPI {
	return &fakeAPI{
		objects: map[string]map[string]any{},
		history: make([]change, 100),
		changed: make(chan struct{}),
		cut:     make(chan struct{}),
		gone:    make(chan struct{}),
	}
}

// RoundTrip answers one request.
func (a *fakeAPI) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	response := a.answer(r)
	a.audit = append(a.audit, fmt.Sprintf("%-4s %s  %d", r.Method, r.URL.RequestURI(), response.StatusCode))
	return response, nil
}

func (a *fakeAPI) answer(r *http.Request) *http.Response {
	query := r.URL.Query()
	switch object := a.objects[r.URL.Path]; {
	case a.down:
		return failure(apierrors.NewInternalError(errors.New("etcd has no leader")))
	case query.Get("watch") == "true":
		from, _ := strconv.Atoi(query.Get("resourceVersion"))
		seconds, _ := strconv.Atoi(query.Get("timeoutSeconds"))
		return a.watch(r.Context(), r.URL.Path, from, min(time.Duration(seconds)*time.Second, longestWatch))
	case r.Method == http.MethodGet && object != nil:
		return success(object)
	case r.Method == http.MethodGet && isCollection(r.URL.Path):
		items := a.items(r.URL.Path)
		return success(map[string]any{"metadata": map[string]any{"resourceVersion": a.version()}, "items": items})
	case r.Method == http.MethodGet:
		return failure(apierrors.NewNotFound(schema.GroupResource{}, path.Base(r.URL.Path)))
	}
	sent := map[string]any{}
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return failure(apierrors.NewBadRequest(err.Error()))
	}
	if r.Method == http.MethodPost {
		a.store(r.URL.Path+"/"+sent["metadata"].(map[string]any)["name"].(string), sent)
		return respond(http.StatusCreated, sent)
	}
	a.store(r.URL.Path, sent)
	return success(sent)
}

func isCollection(target string) bool {
	last := path.Base(target)
	return last == "foos" || last == "deployments"
}

// items returns the objects of a collection, in all namespaces if its path has none.
func (a *fakeAPI) items(collection string) []map[string]any {
	items := []map[string]any{}
	for target, object := range a.objects {
		if in(collection, target) {
			items = append(items, object)
		}
	}
	return items
}

func in(collection, target string) bool {
	return path.Base(path.Dir(target)) == path.Base(collection) &&
		strings.HasPrefix(target, strings.TrimSuffix(collection, path.Base(collection)))
}

func (a *fakeAPI) version() string { return strconv.Itoa(len(a.history)) }

// watch sends all changes after the version from. From 0, it begins with all existing objects, as a
// watch without a resourceVersion does.
func (a *fakeAPI) watch(ctx context.Context, collection string, from int, timeout time.Duration) *http.Response {
	var first []change
	if from == 0 {
		for _, object := range a.items(collection) {
			first = append(first, change{Type: watch.Added, Object: object})
		}
		from = len(a.history)
	}
	if from < a.forgotten {
		return failure(apierrors.NewResourceExpired(fmt.Sprintf("too old resource version: %d (%d)", from, a.forgotten)))
	}
	reader, writer := io.Pipe()
	context.AfterFunc(ctx, func() { writer.CloseWithError(ctx.Err()) })
	end, cut, gone := time.After(timeout), a.cut, a.gone
	a.watching = true
	go func() {
		defer a.watchEnded(writer)
		stream := json.NewEncoder(writer)
		for _, event := range first {
			stream.Encode(event)
		}
		for {
			a.mu.Lock()
			changed, changes := a.changed, a.history[from:]
			a.mu.Unlock()
			for _, change := range changes {
				if in(collection, change.path) && stream.Encode(change) != nil {
					return
				}
				from++
			}
			select {
			case <-changed:
			case <-time.After(time.Minute):
				metadata := map[string]any{"resourceVersion": strconv.Itoa(from)}
				stream.Encode(change{Type: watch.Bookmark, Object: map[string]any{"metadata": metadata}})
			case <-gone:
				status := apierrors.NewResourceExpired("too old resource version").ErrStatus
				stream.Encode(map[string]any{"type": watch.Error, "object": status})
				return
			case <-cut:
				io.WriteString(writer, `{"type":"MODIF`)
				return
			case <-end:
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return &http.Response{StatusCode: http.StatusOK, Status: "200 OK", Body: reader}
}

func (a *fakeAPI) watchEnded(response io.Closer) {
	a.mu.Lock()
	a.watching = false
	a.mu.Unlock()
	response.Close()
}

// store creates or replaces an object. It never changes one that has been returned before.
func (a *fakeAPI) store(target string, object map[string]any) {
	eventType, metadata := watch.Modified, object["metadata"].(map[string]any)
	if a.objects[target] == nil {
		eventType, metadata["uid"] = watch.Added, "uid "+a.version()
	}
	metadata["resourceVersion"] = strconv.Itoa(len(a.history) + 1)
	a.objects[target] = object
	a.commit(change{target, eventType, object})
}

// remove deletes an object. Its last version says when.
func (a *fakeAPI) remove(target string) {
	var object map[string]any
	encoded, _ := json.Marshal(a.objects[target])
	json.Unmarshal(encoded, &object)
	delete(a.objects, target)
	object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(len(a.history) + 1)
	a.commit(change{target, watch.Deleted, object})
}

func (a *fakeAPI) commit(c change) {
	a.history = append(a.history, c)
	wake(&a.changed)
}

// wake wakes up everybody who waits for the channel.
func wake(channel *chan struct{}) {
	close(*channel)
	*channel = make(chan struct{})
}

func success(object any) *http.Response { return respond(http.StatusOK, object) }

func failure(err *apierrors.StatusError) *http.Response {
	err.ErrStatus.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
	return respond(int(err.ErrStatus.Code), err.ErrStatus)
}

func respond(code int, object any) *http.Response {
	body, _ := json.Marshal(object)
	return &http.Response{StatusCode: code, Status: fmt.Sprint(code, " ", http.StatusText(code)), Body: io.NopCloser(bytes.NewReader(body))}
}
