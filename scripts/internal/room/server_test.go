package room

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// open opens a room on loopback that nobody serves. The tests call its handler.
func open(t *testing.T) *Server {
	t.Helper()
	server, err := Open("127.0.0.1:0", theExercises())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.listener.Close() })
	return server
}

const anasReport = `{"name":"Ana","exercise":"01/2","passed":false,"passing":4,"tests":7,"done":["01/1"]}`

func TestRequests(t *testing.T) {
	full := map[string]*person{}
	for i := range mostPeople {
		full[string(rune('一'+i))] = &person{heard: time.Now()}
	}
	for sentence, test := range map[string]struct {
		method, path, body string
		people             map[string]*person
		code               int
		says               string
	}{
		"the page":                      {method: "GET", path: "/CODE", code: 200, says: "<table>"},
		"the page, with a slash":        {method: "GET", path: "/CODE/", code: 200, says: "<table>"},
		"the page, in capitals":         {method: "GET", path: "/UPPER", code: 200, says: "<table>"},
		"a report":                      {method: "POST", path: "/CODE", body: anasReport, code: 204},
		"the page without the code":     {method: "GET", path: "/", code: 404, says: "no room at this address"},
		"the page with another code":    {method: "GET", path: "/lomar-tibe1", code: 404, says: "no room at this address"},
		"the updates with another code": {method: "GET", path: "/lomar-tibe1/events", code: 404, says: "no room at this address"},
		"a report with another code":    {method: "POST", path: "/lomar-tibe1", body: anasReport, code: 404, says: "no room at this address"},
		"another page":                  {method: "GET", path: "/CODE/more", code: 404},
		"another method":                {method: "DELETE", path: "/CODE", code: 405},
		"no JSON":                       {method: "POST", path: "/CODE", body: "Ana", code: 400, says: "isn't the JSON"},
		"two reports at once":           {method: "POST", path: "/CODE", body: anasReport + anasReport, code: 400, says: "isn't the JSON"},
		"an unknown exercise":           {method: "POST", path: "/CODE", body: `{"name":"Ana","exercise":"09/9"}`, code: 400, says: "doesn't know the exercise"},
		"the largest report":            {method: "POST", path: "/CODE", body: anasReport + strings.Repeat(" ", mostBody-len(anasReport)), code: 204},
		"a larger report":               {method: "POST", path: "/CODE", body: anasReport + strings.Repeat(" ", mostBody-len(anasReport)+1), code: 413, says: "larger than 4096 bytes"},
		"a report to a full room":       {method: "POST", path: "/CODE", body: anasReport, people: full, code: 503, says: "the room is full"},
	} {
		t.Run(sentence, func(t *testing.T) {
			server := open(t)
			if test.people != nil {
				server.room.people = test.people
			}
			path := strings.NewReplacer("CODE", server.code, "UPPER", strings.ToUpper(server.code)).Replace(test.path)
			response := httptest.NewRecorder()
			server.handler().ServeHTTP(response, httptest.NewRequest(test.method, path, strings.NewReader(test.body)))
			if response.Code != test.code || !strings.Contains(response.Body.String(), test.says) {
				t.Errorf("got %d, want %d and %q:\n%s", response.Code, test.code, test.says, response.Body)
			}
			if test.code > 204 && test.people == nil && len(server.room.people) > 0 {
				t.Error("the report was recorded")
			}
		})
	}
}

func TestThePageEscapesNames(t *testing.T) {
	server := open(t)
	if err := server.room.take(Report{Name: `<script>"&'</script>`, Exercise: "01/1"}); err != nil {
		t.Fatal(err)
	}
	server.room.exercises[0].Title = `<img src=x>"`
	response := httptest.NewRecorder()
	server.handler().ServeHTTP(response, httptest.NewRequest("GET", "/"+server.code, nil))
	page := response.Body.String()
	if !strings.Contains(page, "<bdi>&lt;script&gt;&#34;&amp;&#39;&lt;/script&gt;</bdi>") || !strings.Contains(page, `title="01/1 &lt;img src=x&gt;&#34;"`) {
		t.Errorf("not escaped:\n%s", page)
	}
	policy := response.Header().Get("Content-Security-Policy")
	nonce := regexp.MustCompile(`script-src 'nonce-(\w+)'`).FindStringSubmatch(policy)
	if nonce == nil || strings.Count(page, `nonce="`+nonce[1]+`"`) != 2 || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy %q doesn't fit the page", policy)
	}
}

// An open page gets the rows at once, after each report, and when an age has changed.
func TestThePageIsUpdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := open(t)
		ctx, leave := context.WithCancel(t.Context())
		stream := &stream{header: http.Header{}}
		go server.handler().ServeHTTP(stream, httptest.NewRequest("GET", "/"+server.code+"/events", nil).WithContext(ctx))
		news := func() string {
			synctest.Wait()
			return stream.take()
		}
		if got := news(); !strings.HasPrefix(got, "data: <tr>") || !strings.HasSuffix(got, "\n\n") || !strings.Contains(got, "Nobody has checked") {
			t.Errorf("at first: got %q", got)
		}
		if err := server.room.take(Report{Name: "Ana", Exercise: "01/2", Passing: 4, Tests: 7}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(updatePause)
		if got := news(); !strings.Contains(got, "4 of 7 tests") || !strings.Contains(got, "just now") {
			t.Errorf("after a report: got %q", got)
		}
		time.Sleep(time.Minute - updatePause - time.Second)
		if got := news(); got != "" {
			t.Errorf("within the minute: got %q, want nothing", got)
		}
		time.Sleep(agePeriod)
		if got := news(); !strings.Contains(got, "1 min ago") {
			t.Errorf("after a minute: got %q", got)
		}
		time.Sleep(forgotten)
		if got := news(); !strings.Contains(got, "Nobody has checked") {
			t.Errorf("after an hour: got %q", got)
		}
		leave()
		synctest.Wait()
		if len(server.viewers) != 0 {
			t.Error("the page is closed, and still counts")
		}
	})
}

// stream is a response that can be read while it is written.
type stream struct {
	header http.Header
	mu     sync.Mutex
	text   string
}

func (s *stream) Header() http.Header { return s.header }
func (s *stream) WriteHeader(int)     {}
func (s *stream) Flush()              {}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text += string(p)
	return len(p), nil
}

// take returns what was written since the last call.
func (s *stream) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.text
	s.text = ""
	return text
}

func TestOnlySoManyPages(t *testing.T) {
	server := open(t)
	for range mostViewers {
		server.viewers <- struct{}{}
	}
	response := httptest.NewRecorder()
	server.handler().ServeHTTP(response, httptest.NewRequest("GET", "/"+server.code+"/events", nil))
	if response.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", response.Code)
	}
}

// The end of the context closes the room, although a page is open.
func TestTheRoomCloses(t *testing.T) {
	server := open(t)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	response, err := http.Get(server.URLs()[0].URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || !strings.HasPrefix(line, "data: ") {
		t.Fatalf("got %q, error %v", line, err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	_, _ = io.ReadAll(response.Body) // the connection is closed, so this returns
}

func TestAddresses(t *testing.T) {
	for address, valid := range map[string]bool{
		"127.0.0.1:0": true, "[::1]:8090": true, "0.0.0.0:8090": true,
		":8090": false, "8090": false, "": false, "127.0.0.1": false, "127.0.0.1:": false,
	} {
		if err := checkAddress(address); (err == nil) != valid {
			t.Errorf("--serve %q: got the error %v", address, err)
		}
	}
	for address, want := range map[string]string{
		"http://192.168.1.5:8090/lomar-tibek":   "http://192.168.1.5:8090/lomar-tibek",
		" http://192.168.1.5:8090/lomar-tibek/": "http://192.168.1.5:8090/lomar-tibek",
		"https://[fe80::1]:8090/lomar-tibek":    "https://[fe80::1]:8090/lomar-tibek",
		"":                                      "",
		"192.168.1.5:8090/lomar-tibek":          "",
		"http://192.168.1.5:8090":               "",
		"http:///lomar-tibek":                   "",
		"http://192.168.1.5:8090/a/b":           "",
		"http://192.168.1.5:8090/a?b":           "",
		"ftp://192.168.1.5/lomar-tibek":         "",
		"http://ana:secret@192.168.1.5/lomar":   "",
	} {
		got, err := checkURL(address)
		if got != want || (err == nil) != (want != "") || err != nil && !strings.Contains(err.Error(), "--room") {
			t.Errorf("--room %q: got %q, error %v; want %q", address, got, err, want)
		}
	}
}

func TestCodes(t *testing.T) {
	first, second := newCode(), newCode()
	if word := regexp.MustCompile(`^[a-z]{5}-[a-z]{5}$`); first == second || !word.MatchString(first) {
		t.Errorf("got %s and %s", first, second)
	}
}

// With the longest name and all of the course's exercises, a report is far below its bound.
func TestTheLargestReportFits(t *testing.T) {
	report := Report{Name: strings.Repeat("一", mostName), Exercise: "01/1", Passing: mostTests, Tests: mostTests}
	for range 200 {
		report.Done = append(report.Done, "07/10")
	}
	if body, err := json.Marshal(report); err != nil || len(body) > mostBody {
		t.Errorf("it has %d bytes, error %v", len(body), err)
	}
}
