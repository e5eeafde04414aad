//go:build solution

// Package resume is about the end of a watch, and the point from which the next one has to start.
package resume

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// ErrRelist means that no watch can continue from here, because the server no longer has that
// history. The caller has to list again.
var ErrRelist = errors.New("history is gone: list again")

// Follow reads the response to one watch until it ends, and reports every object that was added,
// modified or deleted.
//
// It returns the resourceVersion from which the next watch has to start, so that no change is
// missed and none is reported twice. This watch was started from the resourceVersion in after.
//
// The error is nil if the response simply ended, as every watch does sooner or later. It is
// ErrRelist if the server sent a 410, and then the resourceVersion is empty. After any other error,
// the next watch can continue where this one stopped: after its last event, or from after if it had
// none.
func Follow(response io.Reader, after string, report func(watch.EventType, metav1.PartialObjectMetadata)) (resourceVersion string, err error) {
	decoder := json.NewDecoder(response)
	for {
		// 1. The object's type depends on the event's type, so don't decode the object yet.
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return after, nil
		} else if err != nil {
			return after, fmt.Errorf("read the watch: %w", err)
		}

		// 2. In an ERROR event, the object is a Status and has no resourceVersion.
		if event.Type == watch.Error {
			var status metav1.Status
			if err := json.Unmarshal(event.Object, &status); err != nil {
				return after, fmt.Errorf("decode an ERROR event: %w", err)
			}
			if status.Code == http.StatusGone {
				return "", ErrRelist
			}
			return after, apierrors.FromObject(&status)
		}

		// 3. In all other events, it is of the collection's kind. A bookmark's object is empty
		// except for its resourceVersion.
		var object metav1.PartialObjectMetadata
		if err := json.Unmarshal(event.Object, &object); err != nil {
			return after, fmt.Errorf("decode an event of the type %q: %w", event.Type, err)
		}
		if event.Type != watch.Bookmark {
			report(event.Type, object)
		}
		after = object.ResourceVersion
	}
}
