// Tests of the idle timeout, with a RoundTripper in place of the network. They run in
// testing/synctest bubbles, where waiting takes no time. Later chapters have the same
// idletimeout.go, but only this one tests it.

package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
)

func TestWatchIdleTimeout(t *testing.T) {
	const limit = 90 * time.Second
	for sentence, test := range map[string]struct {
		url      string
		headers  time.Duration // until the headers arrive; negative means never
		pauses   []time.Duration
		reading  time.Duration // how long the reader takes between two reads
		wantRead int           // bytes, before the watch or its response ends
		wantTook time.Duration
		wantErr  error // nil: the response ended by itself
	}{
		"a watch that sends an event every minute stays open": {
			url: "https://host/pods?watch=true", pauses: []time.Duration{time.Minute, time.Minute, time.Minute},
			wantRead: 3, wantTook: 3 * time.Minute,
		},
		"a watch that becomes idle is ended": {
			url: "https://host/pods?watch=true", pauses: []time.Duration{time.Minute, time.Hour},
			wantRead: 1, wantTook: time.Minute + limit, wantErr: os.ErrDeadlineExceeded,
		},
		"a watch that never gets a response is ended": {
			url: "https://host/pods?watch=true", headers: -1,
			wantTook: limit, wantErr: os.ErrDeadlineExceeded,
		},
		"the time that the reader takes doesn't count": {
			url: "https://host/pods?watch=true", pauses: []time.Duration{0, 0}, reading: time.Hour,
			wantRead: 2, wantTook: 2 * time.Hour,
		},
		"a request that isn't a watch may take its time": {
			url: "https://host/pods?limit=500", headers: time.Hour, pauses: []time.Duration{time.Hour},
			wantRead: 1, wantTook: 2 * time.Hour,
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := &rest.Config{}
				if err := addWatchIdleTimeout(config, limit); err != nil {
					t.Fatal(err)
				}
				client := http.Client{Transport: config.WrapTransport(network{test.headers, test.pauses})}

				began := time.Now()
				read, err := readAll(t, &client, test.url, test.reading)

				if read != test.wantRead || time.Since(began) != test.wantTook || !errors.Is(err, test.wantErr) {
					t.Errorf("read %d bytes in %v and then got the error %v; want %d bytes, %v and %v",
						read, time.Since(began), err, test.wantRead, test.wantTook, test.wantErr)
				}
			})
		})
	}
}

// readAll reads the response to its end, byte by byte.
func readAll(t *testing.T, client *http.Client, url string, between time.Duration) (read int, err error) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	for {
		switch _, err := response.Body.Read(make([]byte, 1)); err {
		case nil:
			read++
			time.Sleep(between)
		case io.EOF:
			return read, nil
		default:
			return read, err
		}
	}
}

// network sends the headers after a while, and then one byte after each pause.
type network struct {
	headers time.Duration
	pauses  []time.Duration
}

func (n network) RoundTrip(request *http.Request) (*http.Response, error) {
	if n.headers < 0 {
		<-request.Context().Done()
		return nil, request.Context().Err()
	}
	time.Sleep(n.headers)
	return &http.Response{StatusCode: http.StatusOK, Body: &pausing{request.Context(), n.pauses}}, nil
}

type pausing struct {
	ctx    context.Context
	pauses []time.Duration
}

func (p *pausing) Read(buffer []byte) (int, error) {
	if len(p.pauses) == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(p.pauses[0]):
		p.pauses = p.pauses[1:]
		buffer[0] = '.'
		return 1, nil
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	}
}

func (*pausing) Close() error { return nil }

// Without this, client-go logs a warning for each request that takes too long.
var _ utilnet.RoundTripperWrapper = idleTimeout{}

func TestWatchIdleTimeoutMustBePositive(t *testing.T) {
	err := addWatchIdleTimeout(&rest.Config{}, 0)
	if err == nil || !strings.HasPrefix(err.Error(), "--watch-idle-timeout 0s: must be positive") {
		t.Errorf("got the error %v, want one that names the flag and what is wrong", err)
	}
}
