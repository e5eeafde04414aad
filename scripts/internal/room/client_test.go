package room

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/exercisetest"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/gotest"
)

// transport is a network of one function.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

const roomURL = "http://192.168.1.5:8090/lomar-tibek"

// aVerdict is one on the exercise 01/1 of a new repository, in which 01/2 is passed.
func aVerdict(t *testing.T) (root string, v verdict.Verdict) {
	t.Helper()
	root = t.TempDir()
	for _, folder := range []string{"1-one", "2-two"} {
		exercisetest.Write(t, root, "01-a", folder, nil)
	}
	all, err := exercises.All(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := exercises.RecordCheck(t.Context(), root, all[1], true); err != nil {
		t.Fatal(err)
	}
	return root, verdict.Verdict{Exercise: all[0], Outcome: verdict.Failed, Compiler: "secret", Tests: []verdict.Test{
		{Name: "secret", State: gotest.Passed}, {Message: "secret", State: gotest.Failed}, {State: gotest.Skipped},
	}}
}

func TestTheClientSendsOnlyThis(t *testing.T) {
	root, v := aVerdict(t)
	var sent *http.Request
	var body string
	client, err := Join(roomURL+"/", " Ana ", transport(func(r *http.Request) (*http.Response, error) {
		content, err := io.ReadAll(r.Body)
		sent, body = r, string(content)
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, err
	}))
	if err != nil {
		t.Fatal(err)
	}
	client.Report(root)(v)
	client.Leave()
	const want = `{"name":"Ana","exercise":"01/1","passed":false,"passing":1,"tests":2,"done":["01/2"]}`
	if sent == nil || sent.URL.String() != roomURL || sent.Method != http.MethodPost || body != want {
		t.Fatalf("sent %v\n%s\nwant\n%s", sent, body, want)
	}
	if len(sent.Header) != 1 || sent.Header.Get("Content-Type") != "application/json" {
		t.Errorf("sent the headers %v", sent.Header)
	}
	select {
	case err := <-client.Failed():
		t.Error(err)
	default:
	}
}

// A room that never answers delays no check, and the command's exit only a little.
func TestADeadRoom(t *testing.T) {
	root, v := aVerdict(t)
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		client, err := Join(roomURL, "Ana", transport(func(r *http.Request) (*http.Response, error) {
			requests++
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for range 2 * mostQueued {
			client.Report(root)(v)
		}
		if took := time.Since(begin); took != 0 {
			t.Errorf("the checks waited %v for the room", took)
		}
		client.Leave()
		if took := time.Since(begin); took > sendTimeout {
			t.Errorf("the command waited %v for the room, and may wait %v", took, sendTimeout)
		}
		if err := <-client.Failed(); err.Error() != "the room can't be reached: no answer within 2s" {
			t.Errorf("reported %q", err)
		}
		if len(client.failed) > 0 || requests == 0 {
			t.Errorf("%d more failures after %d requests", len(client.failed), requests)
		}
	})
}

func TestOnlyTheFirstFailureIsReported(t *testing.T) {
	root, v := aVerdict(t)
	for sentence, test := range map[string]struct {
		answer transport
		want   string
	}{
		"no room": {func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") }, "connection refused"},
		"another program, which writes to the terminal": {func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusNotFound, Body: io.NopCloser(strings.NewReader("no\x1b[2J room\n"))}, nil
		}, "it answers 404: no[2J room"},
		"a program that sends the client elsewhere": {func(r *http.Request) (*http.Response, error) {
			if r.URL.Host != "192.168.1.5:8090" {
				t.Errorf("the report went to %s", r.URL)
			}
			return &http.Response{StatusCode: http.StatusTemporaryRedirect, Header: http.Header{"Location": {"http://attacker.example/"}}, Body: http.NoBody}, nil
		}, "it answers 307"},
	} {
		t.Run(sentence, func(t *testing.T) {
			client, err := Join(roomURL, "Ana", test.answer)
			if err != nil {
				t.Fatal(err)
			}
			client.Report(root)(v)
			client.Report(root)(v)
			client.Leave()
			if err := <-client.Failed(); err.Error() != "the room can't be reached: "+test.want {
				t.Errorf("reported %q, want %q", err, test.want)
			}
			if len(client.failed) > 0 {
				t.Errorf("reported %q as well", <-client.failed)
			}
		})
	}
}

func TestNamesThatCannotJoin(t *testing.T) {
	for _, name := range []string{"", " ", strings.Repeat("a", 31), "A\tna"} {
		if _, err := Join(roomURL, name, nil); err == nil || !strings.Contains(err.Error(), "--name") {
			t.Errorf("%q: got the error %v", name, err)
		}
	}
}

func TestAReportArrivesInTheRoom(t *testing.T) {
	root, v := aVerdict(t)
	server := open(t)
	client, err := Join("http://room/"+server.code, "Ana", transport(func(r *http.Request) (*http.Response, error) {
		response := httptest.NewRecorder()
		server.handler().ServeHTTP(response, r)
		return response.Result(), nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	client.Report(root)(v)
	client.Leave()
	if got := cells(server.room, "Ana"); got != "failed, now | passed | not touched" {
		t.Errorf("got %q", got)
	}
}
