package faultproxy

// Answers that the proxy gives in the server's place, and the encoding of watch events: where one
// ends and the next begins, and how to write an ERROR.

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

func failure(x *exchange, code int) error {
	if code == http.StatusConflict {
		return apierrors.NewConflict(x.GroupResource(), x.Name,
			errors.New("the object has been modified; please apply your changes to the latest version and try again"))
	}
	return apierrors.NewGenericServerResponse(code, x.Verb, x.GroupResource(), x.Name,
		"made by the fault proxy", 1, true)
}

func forbidden(x *exchange) error {
	return apierrors.NewForbidden(x.GroupResource(), x.Name, errors.New("made by the fault proxy"))
}

// expired is the answer to a watch from a resourceVersion that the server has forgotten.
func expired(x *exchange) error {
	return apierrors.NewResourceExpired("too old resource version: " + resourceVersion(x.Request))
}

func statusOf(err error) *metav1.Status {
	var known apierrors.APIStatus
	if !errors.As(err, &known) {
		known = apierrors.NewInternalError(err)
	}
	status := known.Status()
	status.TypeMeta = metav1.TypeMeta{Kind: "Status", APIVersion: "v1"}
	return &status
}

// writeStatus sends an answer. Like API Priority and Fairness, it sends a 429 as plain text with a
// header.
func writeStatus(w http.ResponseWriter, status *metav1.Status) {
	if status.Code == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", fmt.Sprint(status.Details.RetryAfterSeconds))
		http.Error(w, status.Message, int(status.Code))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(int(status.Code))
	json.NewEncoder(w).Encode(status)
}

// readEvent reads one event with its delimiters: protobuf events begin with their length, and JSON
// events are lines.
func readEvent(stream *bufio.Reader, mediaType string) ([]byte, error) {
	if mediaType == runtime.ContentTypeProtobuf {
		length, err := stream.Peek(4)
		if err != nil {
			return nil, err
		}
		event := make([]byte, 4+int(binary.BigEndian.Uint32(length)))
		_, err = io.ReadFull(stream, event)
		return event, err
	}
	event, err := stream.ReadBytes('\n')
	if len(event) > 0 {
		return event, nil // the next read returns any error again
	}
	return nil, err
}

// errorEvent returns an ERROR event, which replaces the status code once a response has begun.
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
