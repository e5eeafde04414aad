//go:build check || solution

// The tests of Follow. Each case is the response to a watch from resourceVersion 5.
//
// As given, Follow passes the first three cases and fails the others. `workshop test` checks these
// failures:
//
// fails: TestFollow/a bookmark moves the point forward, but isn't reported
// says: Follow reported [ADDED a BOOKMARK ]
//
// fails: TestFollow/410 in the stream: list again
// says: the error is <nil>, want ErrRelist
//
// fails: TestFollow/410 with the older reason Gone: list again
// says: the error is <nil>, want ErrRelist
//
// fails: TestFollow/any other error in the stream: continue after the last event
// says: the next watch would start from "", want "7"
//
// fails: TestFollow/an error before any event: continue from the same point
// says: the next watch would start from "", want "5"
//
// fails: TestFollow/a response that is cut in the middle of an object: continue after the last complete event
// says: the next watch would start from "", want "7"
//
// fails: TestFollow/a response that is cut in the middle of its first object: continue from the same point
// says: the next watch would start from "", want "5"

package resume

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func TestFollow(t *testing.T) {
	const relist, another = "ErrRelist", "another error"
	for sentence, test := range map[string]struct {
		response     []string
		wantReported []string
		wantFrom     string
		wantErr      string // "": none
	}{
		"an empty response: the next watch starts from the same point": {
			wantFrom: "5",
		},
		"each change moves the point forward": {
			response:     []string{event("ADDED", "a", 6), event("MODIFIED", "a", 7)},
			wantReported: []string{"ADDED a", "MODIFIED a"},
			wantFrom:     "7",
		},
		"a deletion moves the point forward, too": {
			response:     []string{event("ADDED", "a", 6), event("DELETED", "a", 8)},
			wantReported: []string{"ADDED a", "DELETED a"},
			wantFrom:     "8",
		},
		"a bookmark moves the point forward, but isn't reported": {
			response:     []string{event("ADDED", "a", 6), event("BOOKMARK", "", 100)},
			wantReported: []string{"ADDED a"},
			wantFrom:     "100",
		},
		"410 in the stream: list again": {
			response:     []string{event("ADDED", "a", 6), failure(410, "Expired")},
			wantReported: []string{"ADDED a"},
			wantErr:      relist,
		},
		"410 with the older reason Gone: list again": {
			response: []string{failure(410, "Gone")},
			wantErr:  relist,
		},
		"any other error in the stream: continue after the last event": {
			response:     []string{event("ADDED", "a", 7), failure(500, "InternalError")},
			wantReported: []string{"ADDED a"},
			wantFrom:     "7",
			wantErr:      another,
		},
		"an error before any event: continue from the same point": {
			response: []string{failure(500, "InternalError")},
			wantFrom: "5",
			wantErr:  another,
		},
		"a response that is cut in the middle of an object: continue after the last complete event": {
			response:     []string{event("ADDED", "a", 7), event("ADDED", "b", 8)[:40]},
			wantReported: []string{"ADDED a"},
			wantFrom:     "7",
			wantErr:      another,
		},
		"a response that is cut in the middle of its first object: continue from the same point": {
			response: []string{event("ADDED", "a", 7)[:40]},
			wantFrom: "5",
			wantErr:  another,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			var reported []string
			from, err := Follow(strings.NewReader(strings.Join(test.response, "\n")), "5", func(eventType watch.EventType, object metav1.PartialObjectMetadata) {
				reported = append(reported, fmt.Sprintf("%s %s", eventType, object.Name))
			})

			if !slices.Equal(reported, test.wantReported) {
				t.Errorf("Follow reported %v, want %v", reported, test.wantReported)
			}
			switch isRelist := errors.Is(err, ErrRelist); {
			case test.wantErr == relist && !isRelist:
				t.Errorf("the error is %v, want ErrRelist", err)
			case test.wantErr == another && (err == nil || isRelist):
				t.Errorf("the error is %v, want one that explains the failure", err)
			case test.wantErr == "" && err != nil:
				t.Errorf("the error is %v, want none, because every watch ends sooner or later", err)
			}
			if from != test.wantFrom {
				t.Errorf("the next watch would start from %q, want %q", from, test.wantFrom)
			}
		})
	}
}

// event returns one event as the API server sends it.
func event(eventType, name string, resourceVersion int) string {
	return fmt.Sprintf(`{"type":%q,"object":{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"resourceVersion":"%d"}}}`,
		eventType, name, resourceVersion)
}

// failure returns an ERROR event. Its object is a Status and not a Pod, because the server sent the
// status code long before the failure.
func failure(code int, reason string) string {
	message := "etcd has no leader"
	if code == http.StatusGone {
		message = "too old resource version: 5 (100)"
	}
	return fmt.Sprintf(`{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":%q,"reason":%q,"code":%d}}`,
		message, reason, code)
}
