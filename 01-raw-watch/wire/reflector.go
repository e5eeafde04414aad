// The Reflector follows one collection. It lists, watches and resumes, and lists again if it has
// to. The receiver of the events decides what they mean.

package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"
)

// longestDelay limits the Retry-After that a server, or a proxy in front of it, may ask for.
const longestDelay = time.Minute

// Event reports that an object is new (watch.Added), has changed (watch.Modified) or is gone
// (watch.Deleted, with its last known state in Object). It has only metadata, because it is a hint
// that something has happened. The receiver reads the current state itself.
type Event struct {
	Type   watch.EventType
	Object metav1.PartialObjectMetadata
}

// Reflector follows one collection of objects and reports each change in it.
type Reflector struct {
	// Path is the collection's path, such as /apis/apps/v1/deployments.
	Path string
	// PageSize is the most objects that one response to a list may have.
	PageSize int
	// Backoff is the pause before the next list or watch. It grows until a watch receives an event.
	Backoff wait.Backoff

	client *Client
	// known has the objects that were reported. A list is compared with it, to find out which
	// objects were deleted while no watch was open.
	known map[types.NamespacedName]metav1.PartialObjectMetadata
	// resourceVersion is the point in history that known shows. If it is empty, the next step is a
	// list.
	resourceVersion string
	// lastFailure is the last failure that was logged. It isn't logged twice in a row.
	lastFailure string
}

// NewReflector returns a Reflector for the collection at path, with the limits that suit a real API
// server.
func NewReflector(client *Client, path string) *Reflector {
	return &Reflector{
		Path:     path,
		PageSize: 500,
		Backoff:  wait.Backoff{Duration: 100 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 20, Cap: 10 * time.Second},
		client:   client,
		known:    map[types.NamespacedName]metav1.PartialObjectMetadata{},
	}
}

// Run reports changes on events until ctx ends. It retries after every failure.
func (r *Reflector) Run(ctx context.Context, events chan<- Event) {
	backoff := r.Backoff
	for {
		received, err := r.listAndWatch(ctx, events)
		if ctx.Err() != nil {
			return
		}
		if received {
			backoff = r.Backoff
		}
		delay := backoff.Step()
		if err != nil {
			if seconds, ok := apierrors.SuggestsClientDelay(err); ok {
				delay = max(delay, min(time.Duration(seconds)*time.Second, longestDelay))
			}
			r.logFailure(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(delay):
		}
	}
}

// listAndWatch lists if it has to, and then watches until the watch ends. It returns whether the
// watch received any event.
func (r *Reflector) listAndWatch(ctx context.Context, events chan<- Event) (received bool, err error) {
	if r.resourceVersion == "" {
		if err := r.list(ctx, events); err != nil {
			return false, err
		}
	}
	received, err = r.watch(ctx, events)
	if apierrors.IsGone(err) || apierrors.IsResourceExpired(err) {
		// 410: the server no longer has the history since our resourceVersion. Only a list can show
		// what we missed.
		klog.V(1).InfoS("History is gone, listing again", "path", r.Path, "resourceVersion", r.resourceVersion)
		r.resourceVersion = ""
		err = nil
	}
	return received, err
}

// list reads the whole collection, page by page, and reports how it differs from the known objects.
func (r *Reflector) list(ctx context.Context, events chan<- Event) error {
	var items []metav1.PartialObjectMetadata
	query := url.Values{"limit": {strconv.Itoa(r.PageSize)}}
	for {
		var page metav1.PartialObjectMetadataList
		err := r.client.Do(ctx, http.MethodGet, r.Path, query, nil, &page)
		if apierrors.IsResourceExpired(err) && query.Has("continue") {
			// All pages show the same moment, which is too old by now. Ask for everything in one
			// response.
			items, query = nil, url.Values{}
			continue
		}
		if err != nil {
			return err
		}
		items = append(items, page.Items...)
		if page.Continue == "" {
			if page.ResourceVersion == "" {
				return fmt.Errorf("the response isn't a list: it has no resourceVersion")
			}
			return r.replace(ctx, events, items, page.ResourceVersion)
		}
		query.Set("continue", page.Continue)
	}
}

// replace reports how a list differs from the known objects. A known object that isn't listed was
// deleted while no watch was open.
func (r *Reflector) replace(ctx context.Context, events chan<- Event, items []metav1.PartialObjectMetadata, resourceVersion string) error {
	listed := make(map[types.NamespacedName]types.UID, len(items))
	for _, item := range items {
		listed[keyOf(&item)] = item.UID
	}
	for key, old := range r.known {
		// Another UID under the same name means deleted and created again.
		if uid, found := listed[key]; !found || uid != old.UID {
			if err := r.report(ctx, events, Event{watch.Deleted, old}); err != nil {
				return err
			}
		}
	}
	for _, item := range items {
		eventType := watch.Added
		if old, found := r.known[keyOf(&item)]; found {
			if old.ResourceVersion == item.ResourceVersion {
				continue
			}
			eventType = watch.Modified
		}
		if err := r.report(ctx, events, Event{eventType, item}); err != nil {
			return err
		}
	}
	r.resourceVersion = resourceVersion
	return nil
}

// watch asks for all changes after resourceVersion and reports them until the stream ends. The
// server ends it after timeoutSeconds, which is random, so that clients don't all reconnect at
// once.
func (r *Reflector) watch(ctx context.Context, events chan<- Event) (received bool, err error) {
	query := url.Values{
		"watch":               {"true"},
		"allowWatchBookmarks": {"true"},
		"resourceVersion":     {r.resourceVersion},
		"timeoutSeconds":      {strconv.Itoa(300 + rand.IntN(300))},
	}

	response, err := r.client.send(ctx, http.MethodGet, r.Path, query, nil)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	if r.lastFailure != "" {
		klog.InfoS("Resumed", "path", r.Path)
		r.lastFailure = ""
	}

	// The response is one JSON object after another, and doesn't end.
	decoder := json.NewDecoder(response.Body)
	for {
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return received, nil
		} else if err != nil {
			return received, fmt.Errorf("read the watch: %w", err)
		}
		if err := r.receive(ctx, events, event.Type, event.Object); err != nil {
			return received, err
		}
		received = true
	}
}

// receive acts on one event of the stream.
func (r *Reflector) receive(ctx context.Context, events chan<- Event, eventType watch.EventType, raw json.RawMessage) error {
	if eventType == watch.Error {
		// The watch has failed. The status code was sent long before, so the object is a Status.
		var status metav1.Status
		if err := json.Unmarshal(raw, &status); err != nil {
			return fmt.Errorf("decode an ERROR event: %w", err)
		}
		r.client.trace.failure(&status)
		return apierrors.FromObject(&status)
	}
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(raw, &object); err != nil {
		return fmt.Errorf("decode an event of the type %q: %w", eventType, err)
	}
	r.client.trace.event(eventType, &object)
	switch eventType {
	case watch.Added, watch.Modified, watch.Deleted:
		if err := r.report(ctx, events, Event{eventType, object}); err != nil {
			return err
		}
	case watch.Bookmark:
		// Nothing happened, but history has moved on: resume from here.
	default:
		return fmt.Errorf("an event of the unknown type %q", eventType)
	}
	r.resourceVersion = object.ResourceVersion
	return nil
}

// report sends one event to the receiver and updates known.
func (r *Reflector) report(ctx context.Context, events chan<- Event, event Event) error {
	event.Object.ManagedFields = nil // half of most objects' metadata, and of no use here
	select {
	case events <- event:
	case <-ctx.Done():
		return ctx.Err()
	}
	if event.Type == watch.Deleted {
		delete(r.known, keyOf(&event.Object))
	} else {
		r.known[keyOf(&event.Object)] = event.Object
	}
	return nil
}

func keyOf(object metav1.Object) types.NamespacedName {
	return types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}
}

// logFailure logs why a list or watch failed, once for each reason.
func (r *Reflector) logFailure(err error) {
	if message := explain(r.Path, err); message != r.lastFailure {
		klog.InfoS("Waiting", "path", r.Path, "because", message)
		r.lastFailure = message
	}
}

// explain adds a hint about the fix, if the error has a common cause.
func explain(path string, err error) string {
	switch {
	case apierrors.IsNotFound(err):
		return fmt.Sprintf("the server has no %s: is the CRD applied?", path)
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("%v: are the permissions applied?", err)
	case apierrors.IsUnauthorized(err):
		return fmt.Sprintf("%v: the server refuses the credentials; if they have expired, renew the kubeconfig and restart", err)
	}
	// The whole URL has a random timeoutSeconds in it, so the same failure would look like a new
	// one.
	if failed := new(url.Error); errors.As(err, &failed) {
		err = failed.Err
	}
	return err.Error()
}
