package room

// The room's server. It may listen on the network, unlike all other servers of the workshop, so
// each path begins with the room's code, and every input has a bound.

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net"
	"net/http"
	"strings"
	"time"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/problem"
)

const (
	mostViewers  = 50                     // pages that are open at once
	timeout      = 10 * time.Second       // to read a request, and to write an answer or an update
	updatePause  = 300 * time.Millisecond // collects the reports of a busy moment into one update
	agePeriod    = 15 * time.Second       // how often a page's ages are drawn again
	mostOfHeader = 8 << 10                // bytes
)

// Server serves a room.
type Server struct {
	room     *room
	code     string
	listener net.Listener
	viewers  chan struct{} // has an element for each open page
}

// Open listens on an address such as 0.0.0.0:8090.
func Open(address string, all []exercises.Exercise) (*Server, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, problem.New("the room can't listen on %s", address).
			ToDo("choose another port, or an address of this machine; 0.0.0.0 means all of them").
			Because(err)
	}
	return &Server{room: newRoom(all), code: newCode(), listener: listener, viewers: make(chan struct{}, mostViewers)}, nil
}

// Serve serves the room until ctx ends, and then closes all connections at once.
func (s *Server) Serve(ctx context.Context) error {
	server := &http.Server{
		Handler:           s.handler(),
		ReadHeaderTimeout: timeout,
		ReadTimeout:       timeout,
		WriteTimeout:      timeout,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    mostOfHeader,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the room: %w", err)
	}
	return nil
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{code}", s.page)
	mux.HandleFunc("GET /{code}/{$}", s.page)
	mux.HandleFunc("GET /{code}/events", s.events)
	mux.HandleFunc("POST /{code}", s.report)
	return s.guard(mux)
}

// guard lets only requests with the room's code through. The code is in the path, so another
// website that makes a browser send requests doesn't know it.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		code, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(strings.ToLower(code)), []byte(s.code)) != 1 {
			http.Error(w, "there is no room at this address: use the one on the instructor's screen", http.StatusNotFound)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) page(w http.ResponseWriter, _ *http.Request) {
	rows, _ := s.room.rows()
	nonce := rand.Text()
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", fmt.Sprintf("default-src 'none'; script-src 'nonce-%[1]s'; style-src 'nonce-%[1]s'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'", nonce))
	var join []string
	for _, url := range s.URLs() {
		join = append(join, url.URL)
	}
	_, _ = io.WriteString(w, draw("page", pageData{
		Nonce: nonce, Events: "/" + s.code + "/events", Join: join, Chapters: headsOf(s.room.exercises), Rows: template.HTML(rows),
	}))
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostBody))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		http.Error(w, fmt.Sprintf("the report is larger than %d bytes", mostBody), http.StatusRequestEntityTooLarge)
		return
	case err != nil:
		http.Error(w, "the report is incomplete", http.StatusBadRequest)
		return
	}
	var report Report
	if err := json.Unmarshal(body, &report); err != nil {
		http.Error(w, "the report isn't the JSON that the room expects", http.StatusBadRequest)
		return
	}
	switch err := s.room.take(report); {
	case errors.Is(err, errFull):
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
	case err != nil:
		http.Error(w, err.Error(), http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
}

// events streams the table's rows as server-sent events, each time that they change.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.viewers <- struct{}{}:
		defer func() { <-s.viewers }()
	default:
		http.Error(w, fmt.Sprintf("the room's page is open %d times already", mostViewers), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	// The stream has no end, so the server's timeouts don't fit. Errors mean that there are none.
	_ = control.SetReadDeadline(time.Time{})
	sent := ""
	for {
		rows, changed := s.room.rows()
		if rows != sent {
			sent = rows
			_ = control.SetWriteDeadline(time.Now().Add(timeout))
			_, err := fmt.Fprintf(w, "data: %s\n\n", strings.ReplaceAll(rows, "\n", "\ndata: "))
			if err != nil || control.Flush() != nil {
				return
			}
		}
		select {
		case <-changed:
			wait(r.Context(), updatePause)
		case <-time.After(agePeriod):
		case <-r.Context().Done():
		}
		if r.Context().Err() != nil {
			return
		}
	}
}

func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
