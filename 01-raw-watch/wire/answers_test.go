// The words that scripts are written in: objects, lists, events of a watch, and what goes wrong.

package wire

import (
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// Two things that a stream can do between events.
const (
	cut   = "<the connection is cut>"
	quiet = "<nothing more is said, and the connection stays open>"
)

// pod returns a Pod as of some resourceVersion.
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

// anotherPod returns a Pod that has taken the name of one that is gone.
func anotherPod(name string, resourceVersion int) metav1.PartialObjectMetadata {
	another := pod(name, resourceVersion)
	another.UID = types.UID("another " + name)
	return another
}

// list answers with the whole collection as of some resourceVersion.
func list(resourceVersion int, items ...metav1.PartialObjectMetadata) http.HandlerFunc {
	return page(resourceVersion, "", items...)
}

// page answers with a part of the collection, and with the token that the next part is asked for
// with.
func page(resourceVersion int, next string, items ...metav1.PartialObjectMetadata) http.HandlerFunc {
	return say(http.StatusOK, encode(metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "PodList"},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.Itoa(resourceVersion), Continue: next},
		Items:    items,
	}))
}

// stream answers a watch: each part is sent as soon as the one before has gone out. Then the answer
// ends.
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

// bookmark says that all up to this resourceVersion has been sent.
func bookmark(resourceVersion int) string { return event(watch.Bookmark, pod("", resourceVersion)) }

// failed is a failure told in the stream, where it is too late for a status code.
func failed(status metav1.Status) string { return event(watch.Error, status) }

func event(eventType watch.EventType, object any) string {
	return encode(map[string]any{"type": eventType, "object": object}) + "\n"
}

// half is what is left of an event when the connection is cut in the middle of it; otherHalf is
// what was lost.
func half(event string) string      { return event[:len(event)/2] }
func otherHalf(event string) string { return event[len(event)/2:] }

// failure is how the API server explains why a request failed.
func failure(code int32, reason metav1.StatusReason) metav1.Status {
	return metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Code: code, Reason: reason, Message: "it is " + string(reason),
	}
}

var (
	expired       = failure(http.StatusGone, metav1.StatusReasonExpired)
	gone          = failure(http.StatusGone, metav1.StatusReasonGone)
	internalError = failure(http.StatusInternalServerError, metav1.StatusReasonInternalError)
)

// fail answers with a failure.
func fail(status metav1.Status) http.HandlerFunc { return say(int(status.Code), encode(status)) }

// say answers with any text.
func say(code int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, text)
	}
}

// neverAnswer never answers, not even with headers.
func neverAnswer(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func flush(w http.ResponseWriter) { w.(http.Flusher).Flush() }

// aProxysPage is what a proxy answers when it can't reach the API server.
const aProxysPage = "<html><head><title>502 Bad Gateway</title></head></html>"

// hugePod is as large as etcd takes an object by default: 1.5 MiB.
func hugePod(name string, resourceVersion int) metav1.PartialObjectMetadata {
	huge := pod(name, resourceVersion)
	huge.Annotations = map[string]string{"all": strings.Repeat("x", 3<<19)}
	return huge
}

func encode(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}
