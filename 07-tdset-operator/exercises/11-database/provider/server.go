// Package provider is a simulated provider of databases: its HTTP API, and a client for that API.
// It is as inconvenient as a real one. It sends no events, a create takes time and isn't
// idempotent, and requests may be refused. Change nothing here.
package provider

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server answers the requests of package provider's Client, and of people with curl:
//
//	GET    /databases             all databases, the oldest first; with ?name=NAME those of that name
//	POST   /databases             creates one: {"name": "a", "owner": "me", "sizeGiB": 10}
//	GET    /databases/ID
//	PATCH  /databases/ID          changes sizeGiB, owner or isProtected: {"sizeGiB": 20}
//	DELETE /databases/ID          answers 409 if isProtected is true
//	POST   /throttle?name=NAME&seconds=30
//
// For that many seconds after a throttle, requests about databases of that name are answered with
// 429 and Retry-After.
type Server struct {
	dir          string // has a file for each database
	creationTime func(name string) time.Duration
	mux          *http.ServeMux

	mu        sync.Mutex // one request at a time
	throttled map[string]time.Time
}

// NewServer returns a Server whose databases are in that folder, so that they outlive the process.
// Several processes can serve the same folder. creationTime returns how long a new database of that
// name is pending.
func NewServer(dir string, creationTime func(name string) time.Duration) *Server {
	s := &Server{dir: dir, creationTime: creationTime, mux: http.NewServeMux(), throttled: map[string]time.Time{}}
	for pattern, handle := range map[string]func(*http.Request) (any, error){
		"GET /databases":         s.list,
		"POST /databases":        s.create,
		"GET /databases/{id}":    s.get,
		"PATCH /databases/{id}":  s.change,
		"DELETE /databases/{id}": s.remove,
		"POST /throttle":         s.throttle,
	} {
		s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			s.mu.Lock()
			defer s.mu.Unlock()
			answer, err := handle(r)
			respond(w, answer, err)
		})
	}
	return s
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// respond sends an answer, or an error, which is an *Error.
func respond(w http.ResponseWriter, answer any, err error) {
	status := http.StatusOK
	if err != nil {
		refused := &Error{StatusCode: http.StatusInternalServerError, Message: err.Error()}
		errors.As(err, &refused)
		if refused.RetryAfter > 0 {
			seconds := (refused.RetryAfter + time.Second - 1) / time.Second
			w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
		}
		status, answer = refused.StatusCode, refused
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer) // the client may be gone
}

func (s *Server) list(r *http.Request) (any, error) {
	name := r.URL.Query().Get("name")
	if err := s.refuseIfThrottled(name); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(s.dir, "*.json"))
	if err != nil {
		return nil, err
	}
	found := []Database{}
	for _, file := range files {
		database, err := s.read(strings.TrimSuffix(filepath.Base(file), ".json"))
		// An error means that it has just been deleted.
		if err == nil && (name == "" || name == database.Name) {
			found = append(found, database)
		}
	}
	slices.SortFunc(found, func(a, b Database) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return found, nil
}

// create always creates a database, even if there is one with the same name and owner.
func (s *Server) create(r *http.Request) (any, error) {
	database := Database{}
	if err := json.NewDecoder(r.Body).Decode(&database); err != nil || database.Name == "" || database.SizeGiB < 1 {
		return nil, &Error{StatusCode: http.StatusBadRequest, Message: "a database needs a name and a sizeGiB of at least 1"}
	}
	if err := s.refuseIfThrottled(database.Name); err != nil {
		return nil, err
	}
	database.ID, database.CreatedAt = "db-"+strings.ToLower(rand.Text()[:10]), time.Now().UTC()
	return s.write(database)
}

func (s *Server) get(r *http.Request) (any, error) {
	return s.find(r)
}

func (s *Server) change(r *http.Request) (any, error) {
	database, err := s.find(r)
	if err != nil {
		return nil, err
	}
	changed := database
	if err := json.NewDecoder(r.Body).Decode(&changed); err != nil || changed.SizeGiB < 1 {
		return nil, &Error{StatusCode: http.StatusBadRequest, Message: "sizeGiB must be at least 1"}
	}
	database.SizeGiB, database.Owner, database.IsProtected = changed.SizeGiB, changed.Owner, changed.IsProtected
	return s.write(database)
}

func (s *Server) remove(r *http.Request) (any, error) {
	database, err := s.find(r)
	if err != nil {
		return nil, err
	}
	if database.IsProtected {
		return nil, &Error{StatusCode: http.StatusConflict, Message: database.ID + " is protected against deletion"}
	}
	return database, os.Remove(s.file(database.ID))
}

func (s *Server) throttle(r *http.Request) (any, error) {
	name := r.URL.Query().Get("name")
	seconds, err := strconv.Atoi(r.URL.Query().Get("seconds"))
	if err != nil || name == "" {
		return nil, &Error{StatusCode: http.StatusBadRequest, Message: "throttle needs a name and a number of seconds"}
	}
	s.throttled[name] = time.Now().Add(time.Duration(seconds) * time.Second)
	return struct{}{}, nil
}

func (s *Server) refuseIfThrottled(name string) error {
	if left := time.Until(s.throttled[name]); left > 0 {
		return &Error{StatusCode: http.StatusTooManyRequests, Message: "too many requests about " + name, RetryAfter: left}
	}
	return nil
}

// find returns the database that a request names by its ID.
func (s *Server) find(r *http.Request) (Database, error) {
	database, err := s.read(r.PathValue("id"))
	if errors.Is(err, fs.ErrNotExist) {
		return database, &Error{StatusCode: http.StatusNotFound, Message: "there is no database " + r.PathValue("id")}
	}
	return database, errors.Join(err, s.refuseIfThrottled(database.Name))
}

func (s *Server) file(id string) string { return filepath.Join(s.dir, filepath.Base(id)+".json") }

func (s *Server) read(id string) (database Database, err error) {
	content, err := os.ReadFile(s.file(id))
	if err != nil {
		return database, err
	}
	err = json.Unmarshal(content, &database)
	return s.withState(database), err
}

// write replaces the file of a database at once, so that nobody reads half of it.
func (s *Server) write(database Database) (Database, error) {
	content, err := json.Marshal(database)
	if err != nil {
		return database, err
	}
	temporary := s.file(database.ID) + ".new"
	if err := os.WriteFile(temporary, content, 0o600); err != nil {
		return database, err
	}
	return s.withState(database), os.Rename(temporary, s.file(database.ID))
}

// withState returns a database with its state at this time, and if it is available, its endpoint.
func (s *Server) withState(database Database) Database {
	database.State, database.Endpoint = Pending, ""
	if time.Since(database.CreatedAt) >= s.creationTime(database.Name) {
		database.State, database.Endpoint = Available, database.ID+".provider.example:5432"
	}
	return database
}
