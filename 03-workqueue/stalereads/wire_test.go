package main

import (
	"bufio"
	"errors"
	"io"
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
