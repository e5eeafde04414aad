// Watch events in bytes: where one ends and the next begins, and how the server writes an ERROR.

package faultproxy

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// readEvent reads one event, with all that delimits it: JSON comes in lines, protobuf after its length. What is in neither of
// them is passed on as it comes.
func readEvent(stream *bufio.Reader, mediaType string) ([]byte, error) {
	switch mediaType {
	case runtime.ContentTypeJSON:
		event, err := stream.ReadBytes('\n')
		if len(event) > 0 {
			return event, nil // if there is an error, it is still there at the next read
		}
		return nil, err
	case runtime.ContentTypeProtobuf:
		length, err := stream.Peek(4)
		if err != nil {
			return nil, err
		}
		event := make([]byte, 4+int(binary.BigEndian.Uint32(length)))
		_, err = io.ReadFull(stream, event)
		return event, err
	}
	if _, err := stream.Peek(1); err != nil {
		return nil, err
	}
	piece := make([]byte, stream.Buffered())
	_, err := io.ReadFull(stream, piece)
	return piece, err
}

// errorEvent returns an ERROR event. It says what the answer's status code would have said, had it not been sent long ago.
func errorEvent(mediaType string, status *metav1.Status) ([]byte, error) {
	info, ok := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	if !ok || info.StreamSerializer == nil {
		return nil, fmt.Errorf("a watch in %q: no way to write an event", mediaType)
	}
	var event bytes.Buffer
	encoder := restwatch.NewEncoder(
		streaming.NewEncoder(info.StreamSerializer.Framer.NewFrameWriter(&event), info.StreamSerializer.Serializer),
		scheme.Codecs.EncoderForVersion(info.Serializer, corev1.SchemeGroupVersion))
	if err := encoder.Encode(&apiwatch.Event{Type: apiwatch.Error, Object: status}); err != nil {
		return nil, fmt.Errorf("encode an ERROR event: %w", err)
	}
	return event.Bytes(), nil
}
