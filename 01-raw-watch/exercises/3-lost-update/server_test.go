//go:build check || solution

// A server with at most one Deployment. It answers GET and PUT like an API server: a PUT replaces
// the whole object, so every field that isn't in the body is gone. It refuses a PUT with another
// resourceVersion than the object's, but not a PUT without one.

package lostupdate

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path"
	"strconv"
	"sync"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"example.com/operators/01-raw-watch/wire"
)

var deployments = schema.GroupResource{Group: "apps", Resource: "deployments"}

type server struct {
	mu     sync.Mutex
	stored *appsv1.Deployment
	puts   int // including refused ones
	// refuse has the error that all requests of a method get. If it is nil, they succeed.
	refuse map[string]*apierrors.StatusError
	// beforeNextPut is somebody else's change, just before the next PUT arrives. It may be nil.
	beforeNextPut func(*appsv1.Deployment)
}

// start runs a server with this Deployment, which may be nil, and returns the server and a client
// for it.
func start(t *testing.T, stored *appsv1.Deployment) (*server, *wire.Client) {
	t.Helper()
	s := &server{stored: stored}
	listening := httptest.NewServer(s)
	t.Cleanup(listening.Close)
	client, err := wire.NewClient(&rest.Config{Host: listening.URL, WrapTransport: bounded(t)})
	if err != nil {
		t.Fatal(err)
	}
	return s, client
}

// bounded fails the test if Update retries forever. It does so in the goroutine that sends the
// requests, so that Update stops, too.
func bounded(t *testing.T) func(http.RoundTripper) http.RoundTripper {
	const bound = 20
	return func(next http.RoundTripper) http.RoundTripper {
		sent := 0
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			if sent++; sent > bound {
				t.Fatalf("Update has sent %d requests: does it retry forever?", bound)
			}
			return next.RoundTrip(r)
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	response, err := s.respond(r)
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		err.ErrStatus.Kind = "Status"
		w.WriteHeader(int(err.ErrStatus.Code))
		json.NewEncoder(w).Encode(err.ErrStatus)
		return
	}
	json.NewEncoder(w).Encode(response)
}

func (s *server) respond(r *http.Request) (*appsv1.Deployment, *apierrors.StatusError) {
	switch {
	case r.Method != http.MethodGet && r.Method != http.MethodPut:
		return nil, apierrors.NewMethodNotSupported(deployments, r.Method)
	case s.refuse[r.Method] != nil:
		return nil, s.refuse[r.Method]
	case s.stored == nil || r.URL.Path != pathOf(s.stored):
		return nil, apierrors.NewNotFound(deployments, path.Base(r.URL.Path))
	case r.Method == http.MethodGet:
		return s.stored, nil
	}
	s.puts++
	if change := s.beforeNextPut; change != nil {
		s.beforeNextPut = nil
		theirs := s.stored.DeepCopy()
		change(theirs)
		s.commit(theirs)
	}
	return s.put(r)
}

func (s *server) put(r *http.Request) (*appsv1.Deployment, *apierrors.StatusError) {
	sent, old := &appsv1.Deployment{}, s.stored
	switch err := json.NewDecoder(r.Body).Decode(sent); {
	case err != nil:
		return nil, apierrors.NewBadRequest("the body isn't a Deployment: " + err.Error())
	case sent.Name != old.Name || sent.Namespace != old.Namespace:
		return nil, apierrors.NewBadRequest("the name in the body isn't the one in the path")
	case sent.ResourceVersion != "" && sent.ResourceVersion != old.ResourceVersion, sent.UID != "" && sent.UID != old.UID:
		return nil, apierrors.NewConflict(deployments, old.Name, errors.New("the object has been modified"))
	}
	sent.UID = old.UID
	sent.Status = old.Status // the status has its own endpoint
	s.commit(sent)
	return sent, nil
}

// commit stores a Deployment under the next resourceVersion.
func (s *server) commit(deployment *appsv1.Deployment) {
	version, _ := strconv.Atoi(s.stored.ResourceVersion)
	deployment.ResourceVersion = strconv.Itoa(version + 1)
	s.stored = deployment
}
