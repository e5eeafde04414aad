// The trace prints requests and events as they are (--trace).

package wire

import (
	"fmt"
	"io"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// trace prints a line for each request and each watch event. With no writer it prints nothing.
type trace struct {
	to io.Writer
}

func (t *trace) request(request *http.Request, outcome string) {
	if t.to != nil {
		fmt.Fprintf(t.to, "> %s %s  %s\n", request.Method, request.URL.RequestURI(), outcome)
	}
}

func (t *trace) event(eventType watch.EventType, object *metav1.PartialObjectMetadata) {
	if t.to != nil {
		name := object.Name
		if object.Namespace != "" {
			name = object.Namespace + "/" + object.Name
		}
		fmt.Fprintf(t.to, "< %s %s %s  resourceVersion=%s\n", eventType, object.Kind, name, object.ResourceVersion)
	}
}

// failure is the event that ends a watch with a status.
func (t *trace) failure(status *metav1.Status) {
	if t.to != nil {
		fmt.Fprintf(t.to, "< %s %d %s: %s\n", watch.Error, status.Code, status.Reason, status.Message)
	}
}
