//go:build check || solution

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/operators/07-tdset-operator/exercises/11-database/provider"
	"example.com/operators/07-tdset-operator/test/operatortest"
)

type database = provider.Database

// testProvider is a simulated provider that records the operator's requests, and that can make the
// operator crash between a create and its answer.
type testProvider struct {
	url    string
	server *provider.Server
	crash  chan struct{} // tells the operator to crash

	mu      sync.Mutex
	log     []request
	crashes map[string]func() // by the name of the database after whose creation the operator crashes
}

// request is one of the operator's.
type request struct{ method, name string }

// crashURL is an environment variable with the URL that answers when the operator has to crash.
const crashURL = "CRASH_URL"

// crashWhenTold replaces the operator's process by a new one, of which nothing is in memory yet. So
// the operator crashes and is started again, as in a Pod.
func crashWhenTold() {
	response, err := http.Get(os.Getenv(crashURL))
	if err != nil || response.StatusCode != http.StatusOK {
		return // the test has ended
	}
	panic(syscall.Exec(os.Args[0], os.Args, os.Environ()))
}

func startProvider(t *testing.T) *testProvider {
	t.Helper()
	p := &testProvider{crash: make(chan struct{}), crashes: map[string]func(){}}
	p.server = provider.NewServer(t.TempDir(), func(name string) time.Duration {
		if strings.Contains(name, ".slow-") {
			return time.Hour
		}
		return 300 * time.Millisecond
	})
	server := httptest.NewServer(http.HandlerFunc(p.handle))
	t.Cleanup(server.Close)
	p.url = server.URL
	t.Setenv(crashURL, server.URL+"/crash")
	return p
}

// handle answers the operator's requests.
func (p *testProvider) handle(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/crash" {
		select {
		case <-p.crash:
		case <-r.Context().Done():
		}
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	name := p.nameIn(r, body)
	p.mu.Lock()
	p.log = append(p.log, request{r.Method, name})
	before := p.crashes[name]
	if r.Method == http.MethodPost {
		delete(p.crashes, name) // once
	}
	p.mu.Unlock()
	if r.Method != http.MethodPost || before == nil {
		p.server.ServeHTTP(w, r)
		return
	}
	p.server.ServeHTTP(httptest.NewRecorder(), r)
	before()
	p.crash <- struct{}{}
	<-r.Context().Done() // nobody waits for the answer any more
}

// nameIn returns the name of the database that a request is about, without its namespace.
func (p *testProvider) nameIn(r *http.Request, body []byte) string {
	name := r.URL.Query().Get("name")
	if r.Method == http.MethodPost {
		var created database
		_ = json.Unmarshal(body, &created) // the server refuses the request
		name = created.Name
	}
	if id, isOne := strings.CutPrefix(r.URL.Path, "/databases/"); isOne {
		var found database
		_ = p.send(http.MethodGet, "/databases/"+id, "", &found) // there may be none any more
		name = found.Name
	}
	return name[strings.Index(name, ".")+1:]
}

// send sends a request of somebody else to the provider.
func (p *testProvider) send(method, path, body string, answer any) error {
	recorder := httptest.NewRecorder()
	p.server.ServeHTTP(recorder, httptest.NewRequest(method, path, strings.NewReader(body)))
	if recorder.Code != http.StatusOK {
		return fmt.Errorf("%s %s: %s", method, path, recorder.Body)
	}
	return json.Unmarshal(recorder.Body.Bytes(), answer)
}

// does is what somebody else does at the provider.
func (p *testProvider) does(t *operatortest.T, method, path, body string) {
	t.Helper()
	if err := p.send(method, path, body, &struct{}{}); err != nil {
		t.Fatal(err)
	}
}

// crashAfterCreate makes the operator crash when the provider has created a database of that name
// and hasn't answered yet.
func (p *testProvider) crashAfterCreate(name string, before func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.crashes[name] = before
}

// called returns the databases of a Database's external name.
func (p *testProvider) called(t *operatortest.T, name string) (found []database) {
	t.Helper()
	if err := p.send(http.MethodGet, "/databases?name="+externalNameOf(t, name), "", &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// has waits until the provider has exactly one database of that name, and it is as wanted.
func (p *testProvider) has(t *operatortest.T, name, what string, wanted func(database) bool) (one database) {
	t.Helper()
	t.Eventually(fmt.Sprintf("the provider has one database called %s, %s", externalNameOf(t, name), what), func() error {
		found := p.called(t, name)
		if len(found) != 1 || !wanted(found[0]) {
			return fmt.Errorf("it has %d: %+v", len(found), found)
		}
		one = found[0]
		return nil
	})
	return one
}

// only waits until the provider has exactly one database of that name.
func (p *testProvider) only(t *operatortest.T, name string) database {
	t.Helper()
	return p.has(t, name, "and no other", func(database) bool { return true })
}

// isReadAgain waits until the operator has looked at that database five more times.
func (p *testProvider) isReadAgain(t *operatortest.T, name string) {
	t.Helper()
	reads := func(r request) bool { return r.name == name && r.method == http.MethodGet }
	before := p.count(reads)
	t.Eventually(fmt.Sprintf("the operator looks at %q at the provider", name), func() error {
		if got := p.count(reads) - before; got < 5 {
			return fmt.Errorf("it has looked %d times", got)
		}
		return nil
	})
}

// count returns how many of the operator's requests are such requests.
func (p *testProvider) count(are func(request) bool) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range p.log {
		if are(r) {
			n++
		}
	}
	return n
}

// externalNameOf returns the name at the provider that the README asks for.
func externalNameOf(t *operatortest.T, name string) string { return t.Namespace + "." + name }
