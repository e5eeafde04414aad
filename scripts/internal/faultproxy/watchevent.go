package faultproxy

// What passes through the watches, for those who want to see it.

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/operators/scripts/internal/audit"
)

// WatchEvent is an event of a watch.
type WatchEvent struct {
	Watch  audit.Request // the request that began the watch
	Type   string        // ADDED, MODIFIED, DELETED, BOOKMARK or ERROR
	Object metav1.ObjectMeta
	// Received is when the server sent it, and Delivered when the client got it. Delivered is zero
	// while a fault holds it back.
	Received, Delivered time.Time
}

// FollowEvents calls do with each event of each watch from now on: once when the server has sent it,
// and again when the client has got it. do must return soon, and must not call the Proxy.
func (p *Proxy) FollowEvents(do func(WatchEvent)) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.watchers = append(p.watchers, do)
}

// passesEvent tells the followers about an event.
func (p *Proxy) passesEvent(w *watch, a arrival, delivered time.Time) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if len(p.watchers) == 0 {
		return
	}
	kind, object := decodeEvent(a.event, w.mediaType)
	for _, do := range p.watchers {
		do(WatchEvent{Watch: w.Request, Type: kind, Object: object, Received: a.at, Delivered: delivered})
	}
}

// decodeEvent returns an event's type and its object's metadata, or nothing if the encoding is
// another than JSON and protobuf.
func decodeEvent(event []byte, mediaType string) (kind string, object metav1.ObjectMeta) {
	var decoded metav1.WatchEvent
	switch mediaType {
	case runtime.ContentTypeJSON:
		if json.Unmarshal(event, &decoded) != nil {
			return "", object
		}
	case runtime.ContentTypeProtobuf:
		if decoded.Unmarshal(event[4:]) != nil { // the length comes first
			return "", object
		}
	}
	return decoded.Type, metadataOf(decoded.Object.Raw)
}
