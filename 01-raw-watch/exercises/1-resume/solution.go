//go:build solution

// Package resume is about the end of a watch, and about the point from which the next one has to start.
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

// ErrRelist says that there is no point to go on from: the server no longer has that history. Only a list helps.
var ErrRelist = errors.New("history is gone: list again")

// Follow reads the answer to one watch, to its end, and reports every object that was added, modified or deleted.
//
// It returns the resourceVersion from which the next watch has to start, so that nothing is missed and nothing comes twice.
// This watch was started from the one called after. The error is nil if the answer just ended, as each does some time. It
// is ErrRelist if the server said 410: then the resourceVersion is empty. After any other error the next watch can go on
// where this one got to.
func Follow(answer io.Reader, after string, report func(watch.EventType, metav1.PartialObjectMetadata)) (resourceVersion string, err error) {
	decoder := json.NewDecoder(answer)
	for {
		// 1. What the object is depends on the type of the event: so it is left undecoded for now.
		var event struct {
			Type   watch.EventType
			Object json.RawMessage
		}
		if err := decoder.Decode(&event); errors.Is(err, io.EOF) {
			return after, nil
		} else if err != nil {
			return after, fmt.Errorf("read the watch: %w", err)
		}

		// 2. In an ERROR event it is a Status, and has no resourceVersion.
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

		// 3. In all others it is an object of the collection. A bookmark's is an empty one: only its point matters.
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
