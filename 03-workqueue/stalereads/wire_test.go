package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"
)

// Every line arrives five seconds after the server has sent it, however many lines there are.
func TestDelayedLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		client, server := io.Pipe()
		go func() {
			for _, line := range []string{"one", "two", "three"} {
				time.Sleep(time.Second)
				io.WriteString(server, line+"\n")
			}
			server.CloseWithError(errors.New("the server is gone"))
		}()
		body := delayed(client, 5*time.Second)
		defer body.Close()
		lines := bufio.NewScanner(body)
		for i, want := range []string{"one", "two", "three"} {
			if !lines.Scan() || lines.Text() != want {
				t.Fatalf("got %q, want %q", lines.Text(), want)
			}
			if got, want := time.Since(begin), time.Duration(i+1+5)*time.Second; got != want {
				t.Errorf("%q arrived after %v, want %v", lines.Text(), got, want)
			}
		}
		if lines.Scan() || lines.Err() == nil || lines.Err().Error() != "the server is gone" {
			t.Errorf("got %q and the error %v, want the server's", lines.Text(), lines.Err())
		}
	})
}

// A client that leaves ends the watch, and what still waits is dropped when it is due. Otherwise the
// bubble would not end.
func TestAClientMayLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := io.Pipe()
		body := delayed(client, time.Hour)
		io.WriteString(server, "one\n")
		body.Close()
		if _, err := io.WriteString(server, "two\n"); err == nil {
			t.Error("the server can still send")
		}
		time.Sleep(time.Hour)
	})
}

func TestWireCounts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPut {
			w.WriteHeader(http.StatusConflict)
		}
	}))
	defer server.Close()
	w := &wire{}
	client := &http.Client{Transport: w.wrap(http.DefaultTransport)}
	for _, request := range []struct{ method, query string }{
		{http.MethodGet, ""}, {http.MethodGet, "?watch=true"}, {http.MethodPost, ""}, {http.MethodPut, ""}, {http.MethodGet, ""},
	} {
		r, err := http.NewRequestWithContext(t.Context(), request.method, server.URL+request.query, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	if got, want := w.settle(0), (counts{reads: 2, writes: 2, refused: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}
