// Builders for the scripts: objects, lists, the events of a watch, and failures.

package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Two things that a stream can do between events.
const (
	cut   = "<the connection is cut>"
	quiet = "<nothing more is sent, and the connection stays open>"
)

// pod returns a Pod at a resourceVersion.
func pod(name string, resourceVersion int) metav1.PartialObjectMetadata {
	return metav1.PartialObjectMetadata{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace:       "default",
			Name:            name,
			UID:             types.UID("the first " + name),
			ResourceVersion: strconv.Itoa(resourceVersion),
		},
	}
}

// anotherPod returns a Pod that has the name of a deleted one.
func anotherPod(name string, resourceVersion int) metav1.PartialObjectMetadata {
	another := pod(name, resourceVersion)
	another.UID = types.UID("another " + name)
	return another
}

// list responds with the whole collection at a resourceVersion.
func list(resourceVersion int, items ...metav1.PartialObjectMetadata) http.HandlerFunc {
	return page(resourceVersion, "", items...)
}

// page responds with a part of the collection, and with the token for the next part.
func page(resourceVersion int, next string, items ...metav1.PartialObjectMetadata) http.HandlerFunc {
	return respond(http.StatusOK, encode(metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(resourceVersion), Continue: next},
		Items:    items,
	}))
}

// stream responds to a watch. It sends and flushes one part after another, and then ends the
// response.
func stream(parts ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		flush(w)
		for _, part := range parts {
			switch part {
			case cut:
				panic(http.ErrAbortHandler)
			case quiet:
				<-r.Context().Done()
			default:
				io.WriteString(w, part)
				flush(w)
			}
		}
	}
}

func added(object metav1.PartialObjectMetadata) string    { return event(watch.Added, object) }
func modified(object metav1.PartialObjectMetadata) string { return event(watch.Modified, object) }
func deleted(object metav1.PartialObjectMetadata) string  { return event(watch.Deleted, object) }

// bookmark reports that all events up to this resourceVersion have been sent.
func bookmark(resourceVersion int) string { return event(watch.Bookmark, pod("", resourceVersion)) }

// failed reports a failure in the stream, where it is too late for a status code.
func failed(status metav1.Status) string { return event(watch.Error, status) }

func event(eventType watch.EventType, object any) string {
	return encode(map[string]any{"type": eventType, "object": object}) + "\n"
}

// half returns the part of an event that arrives before the connection is cut.
func half(event string) string { return event[:len(event)/2] }

// failure returns the Status with which the API server explains why a request failed.
func failure(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: "it is " + string(reason),
	}
}

var (
	expired       = failure(http.StatusGone, metav1.StatusReasonExpired)
	internalError = failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
)

// fail responds with a failure.
func fail(status metav1.Status) http.HandlerFunc { return respond(int(status.Code), encode(status)) }

// respond sends any text.
func respond(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

// neverRespond never responds, not even with headers.
func neverRespond(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

// proxyPage is a proxy's response when it can't reach the API server.
const proxyPage = "<html><head><title>502 Bad Gateway</title></head></html>"

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
