package lens

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// buttons is an actor that keeps what it is asked to do.
type buttons struct{ done chan Action }

func (b *buttons) Controls() Controls {
	return Controls{Title: "03-workqueue", Programs: []string{"03"}, Objects: []string{"foo-1"}, Buttons: []Button{
		{Action: "create", Label: "Create", Group: "objects"},
		{Action: "scale", Label: "Scale", Group: "objects", Object: true},
		{Action: "F4a", Label: "F4a", Group: "faults"},
	}}
}

func (b *buttons) Do(_ context.Context, action Action) error {
	if action.Action == "fail" {
		return errors.New("refused")
	}
	b.done <- action
	return nil
}

func startServer(t testing.TB, recorder *Recorder) (*Server, *buttons) {
	t.Helper()
	b := &buttons{make(chan Action, 10)}
	server, err := Serve(recorder, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server, b
}

func TestOnlyThePageGetsThrough(t *testing.T) {
	server, _ := startServer(t, &Recorder{})
	address := server.listener.Addr().String()
	if !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
	button := server.URL() + "do"
	for sentence, test := range map[string]struct {
		method, url, body string
		change            func(*http.Request)
		code              int
		says              string
	}{
		"the page":       {url: server.URL(), code: 200, says: "<canvas"},
		"its script":     {url: server.URL() + "lens.js", code: 200, says: "'use strict'"},
		"another file":   {url: server.URL() + "../server.go", code: 404},
		"a button":       {method: "POST", url: button, body: `{"action":"scale"}`, code: 200},
		"a failure":      {method: "POST", url: button, body: `{"action":"fail"}`, code: 422, says: "refused"},
		"no JSON":        {method: "POST", url: button, body: `scale`, code: 400, says: "isn't JSON"},
		"no secret":      {url: "http://" + address + "/", code: 404, says: "lacks its secret"},
		"another secret": {url: "http://" + address + "/AAAA/", code: 404, says: "lacks its secret"},
		"another name": {
			url: server.URL(), code: 421, says: "only 127.0.0.1",
			change: func(r *http.Request) { r.Host = "attacker.example" },
		},
		"another page": {
			method: "POST", url: button, code: 403,
			change: func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") },
		},
		"another page, as a browser says it": {
			method: "POST", url: button, code: 403,
			change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, test.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.change != nil {
				test.change(request)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			content, err := io.ReadAll(response.Body)
			if err != nil || response.StatusCode != test.code || !strings.Contains(string(content), test.says) {
				t.Errorf("got %d %.200s, %v; want %d and %q", response.StatusCode, content, err, test.code, test.says)
			}
			header := response.Header
			if policy := header.Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'") ||
				strings.Contains(policy, "unsafe") || header.Get("Access-Control-Allow-Origin") != "" ||
				header.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("the headers are %v", header)
			}
		})
	}
}
