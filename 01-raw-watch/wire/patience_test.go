// How long a Reflector waits for bytes that don't come. The times are the real ones, by the bubble's clock.

package wire

import (
	"context"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSilence(t *testing.T) {
	for name, test := range map[string]struct {
		server   []http.HandlerFunc
		wantNext string        // what is asked after the silence
		wantWait time.Duration // in whole seconds: a jittered fraction of one is added
	}{
		"a watch that stops, with the connection open, is resumed": {
			server:   []http.HandlerFunc{list(10), stream(added(pod("a", 11)), quiet)},
			wantNext: "watch from 11",
			wantWait: 90 * time.Second,
		},
		"a watch that stops in the middle of an object is resumed before it": {
			server:   []http.HandlerFunc{list(10), stream(half(added(pod("a", 11))), quiet)},
			wantNext: "watch from 10",
			wantWait: 90 * time.Second,
		},
		"a watch that never gets an answer is asked for again": {
			server:   []http.HandlerFunc{list(10), silence},
			wantNext: "watch from 10",
			wantWait: 90 * time.Second,
		},
		"a list that never gets an answer is asked for again": {
			server:   []http.HandlerFunc{silence},
			wantNext: "list limit=500",
			wantWait: requestTimeout,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := play(t, test.server...)

				server.follow(t, NewReflector(server.client, "/api/v1/pods"))

				last := len(test.server)
				if got := server.asked()[last]; got != test.wantNext {
					t.Errorf("then %q was asked, want %q", got, test.wantNext)
				}
				if got := server.waited(last-1, last).Truncate(time.Second); got != test.wantWait {
					t.Errorf("it waited %v, want %v", got, test.wantWait)
				}
			})
		})
	}
}

// Slow is not silent: here an object takes hours, but a byte comes every minute.
func TestSlowBytesAreNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dribble := func(w http.ResponseWriter, _ *http.Request) {
			for _, b := range []byte(added(pod("a", 11))) {
				time.Sleep(time.Minute)
				w.Write([]byte{b})
				flush(w)
			}
		}
		server := play(t, list(10), dribble)

		events := server.follow(t, NewReflector(server.client, "/api/v1/pods"))

		if diff := cmp.Diff([]string{"ADDED a at 11"}, events); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"list limit=500", "watch from 10", "watch from 11"}, server.asked()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// The time in which an event is acted on is the consumer's, and the server isn't blamed for it.
func TestSlowConsumerIsNotSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := play(t, list(10), stream(added(pod("a", 11)), added(pod("b", 12)), quiet))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		events := make(chan Event)
		go NewReflector(server.client, "/api/v1/pods").Run(ctx, events)

		<-events
		time.Sleep(10 * time.Minute)
		<-events

		if diff := cmp.Diff([]string{"list limit=500", "watch from 10"}, server.asked()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}
