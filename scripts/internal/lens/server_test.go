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
		{Action: "create", Label: "Create", Group: "objects"}, {Action: "scale", Label: "Scale", Group: "objects", Object: true},
		{Action: "F4a", Label: "F4a", Group: "faults", Program: true},
	}}
}

func (b *buttons) Do(_ context.Context, action Action) (string, error) {
	switch action.Action {
	case "unknown":
		return "", unknownAction("unknown")
	case "fail":
		return "kubectl fail", errors.New("refused")
	}
	b.done <- action
	return "kubectl " + action.Action + " " + action.Object, nil
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
	server, _ := startServer(t, NewRecorder(nil))
	address := server.listener.Addr().String()
	for sentence, test := range map[string]struct {
		method, url, body string
		change            func(*http.Request)
		code              int
		says              string
	}{
		"the page":                     {method: "GET", url: server.URL(), code: 200, says: "<canvas"},
		"its script":                   {method: "GET", url: server.URL() + "lens.js", code: 200, says: "'use strict'"},
		"a button":                     {method: "POST", url: server.URL() + "do", body: `{"action":"scale","object":"foo-1"}`, code: 200, says: "kubectl scale foo-1"},
		"a button that fails":          {method: "POST", url: server.URL() + "do", body: `{"action":"fail"}`, code: 200, says: "refused"},
		"a button that isn't there":    {method: "POST", url: server.URL() + "do", body: `{"action":"unknown"}`, code: 400, says: "there is no action"},
		"no JSON":                      {method: "POST", url: server.URL() + "do", body: `scale`, code: 400, says: "isn't JSON"},
		"an endless body":              {method: "POST", url: server.URL() + "do", body: `{"action":"` + strings.Repeat("x", 20_000), code: 400, says: "isn't JSON"},
		"without the secret":           {method: "GET", url: "http://" + address + "/", code: 404, says: "lacks its secret"},
		"with another secret":          {method: "GET", url: "http://" + address + "/" + strings.Repeat("A", len(server.secret)) + "/", code: 404, says: "lacks its secret"},
		"by another name":              {method: "GET", url: server.URL(), change: func(r *http.Request) { r.Host = "attacker.example" }, code: 421, says: "only 127.0.0.1"},
		"from another page":            {method: "POST", url: server.URL() + "do", change: func(r *http.Request) { r.Header.Set("Origin", "https://attacker.example") }, code: 403, says: "another page"},
		"from another page, to read":   {method: "GET", url: server.URL() + "items", change: func(r *http.Request) { r.Header.Set("Origin", "null") }, code: 403, says: "another page"},
		"a write without an origin":    {method: "POST", url: server.URL() + "do", change: func(r *http.Request) { r.Header.Del("Origin") }, code: 403, says: "another page"},
		"an image in another page":     {method: "GET", url: server.URL(), change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, code: 403, says: "another page"},
		"another method":               {method: "DELETE", url: server.URL() + "do", code: 405},
		"a file that isn't the page's": {method: "GET", url: server.URL() + "../server.go", code: 404},
	} {
		t.Run(sentence, func(t *testing.T) {
			request, err := http.NewRequestWithContext(t.Context(), test.method, test.url, strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			if test.method != "GET" {
				request.Header.Set("Origin", "http://"+address)
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
			policy := response.Header.Get("Content-Security-Policy")
			if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") || response.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("the headers are %v", response.Header)
			}
		})
	}
}

func TestTheServerListensOnLoopback(t *testing.T) {
	server, _ := startServer(t, NewRecorder(nil))
	if address := server.listener.Addr().String(); !strings.HasPrefix(address, "127.0.0.1:") {
		t.Errorf("it listens on %s", address)
	}
}

func TestARecordingCantBeChanged(t *testing.T) {
	server, err := Serve(Replay([]Item{{ID: 3, Label: "old"}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), "POST", server.URL()+"do", strings.NewReader(`{"action":"scale"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "http://"+server.listener.Addr().String())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusConflict {
		t.Errorf("got %s", response.Status)
	}
}

// No text of a cluster can become part of the standalone page's code.
func TestAStandalonePageEscapesItsRecording(t *testing.T) {
	var page strings.Builder
	evil := `</script><script>alert(1)</script>`
	if err := WriteHTML(&page, `"><script>alert(2)</script>`, []Item{{ID: 1, Lane: Work, Program: `"><b>`, Label: evil, Detail: "<!--"}}); err != nil {
		t.Fatal(err)
	}
	for _, never := range []string{"alert(1)</script>", "<script>alert(2)", `"><b>`, `src="lens.js"`, `href="lens.css"`} {
		if strings.Contains(page.String(), never) {
			t.Errorf("the page has %s", never)
		}
	}
	if !strings.Contains(page.String(), `id="recording"`) {
		t.Error("the page lacks the recording")
	}
}
