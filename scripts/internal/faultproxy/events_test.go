package faultproxy

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
)

// An event is whole, however it arrives, and client-go can read it.
func TestEvents(t *testing.T) {
	messages := []string{strings.Repeat("longer than a buffer ", 1000), "short"}
	for _, mediaType := range []string{runtime.ContentTypeJSON, runtime.ContentTypeProtobuf} {
		t.Run(mediaType, func(t *testing.T) {
			var written [][]byte
			for _, message := range messages {
				event, err := errorEvent(mediaType, &metav1.Status{Message: message, Code: 410})
				if err != nil {
					t.Fatal(err)
				}
				written = append(written, event)
			}
			stream := bufio.NewReader(iotest.HalfReader(bytes.NewReader(slices.Concat(written...))))
			for i, message := range messages {
				event, err := readEvent(stream, mediaType)
				if err != nil || !bytes.Equal(event, written[i]) {
					t.Fatalf("read %d bytes, want %d; error %v", len(event), len(written[i]), err)
				}
				if got := decode(t, mediaType, event); got != message {
					t.Errorf("the event says %q, want %q", got, message)
				}
			}
			if _, err := readEvent(stream, mediaType); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

// decode reads an ERROR event as client-go does, and returns its message.
func decode(t *testing.T, mediaType string, event []byte) string {
	t.Helper()
	info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), mediaType)
	frames := info.StreamSerializer.Framer.NewFrameReader(io.NopCloser(bytes.NewReader(event)))
	events := streaming.NewDecoder(frames, info.StreamSerializer.Serializer)
	kind, object, err := restwatch.NewDecoder(events, scheme.Codecs.UniversalDeserializer()).Decode()
	if err != nil || kind != apiwatch.Error {
		t.Fatalf("a %s event, error %v", kind, err)
	}
	return object.(*metav1.Status).Message
}
