package lens

// The page's server. It listens on loopback only, its URL has a secret, and it refuses requests
// from another page or with another host name. So no website can use it through the browser.

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"strings"
	"time"
)

//go:embed page
var page embed.FS

// Server serves the page.
type Server struct {
	recorder *Recorder
	actor    actor // nil if a recording is replayed
	listener net.Listener
	http     *http.Server
	secret   string
}

// actor carries out what the page's buttons ask for.
type actor interface {
	// Controls describes the buttons.
	Controls() Controls
	// Do carries out an action, and returns a shell command that does the same.
	Do(ctx context.Context, action Action) (command string, err error)
}

// Controls are what the page offers.
type Controls struct {
	Title    string   `json:"title"`
	Programs []string `json:"programs"`
	// Replay means that the page shows a recording, so there is nothing to control.
	Replay  bool     `json:"replay"`
	Objects []string `json:"objects"` // names of the managed objects
	Buttons []Button `json:"buttons"`
	// Look is the prepared scenario that the page shows, if any.
	Look *Shown `json:"look,omitempty"`
}

// Button is one action that the page offers.
type Button struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	Help   string `json:"help"`
	Group  string `json:"group"`
	// Object means that the action needs an object, and Program that it needs a program.
	Object  bool `json:"object,omitempty"`
	Program bool `json:"program,omitempty"`
	// Switch means that the button turns something on and off, and On that it is on now.
	Switch bool `json:"switch,omitempty"`
	On     bool `json:"on,omitempty"`
	// Seconds is the default for an action that takes a number of seconds, and 0 for all others.
	Seconds int `json:"seconds,omitempty"`
}

// Action is what the page asks for.
type Action struct {
	Action  string `json:"action"`
	Object  string `json:"object"`
	Program string `json:"program"`
	Seconds int    `json:"seconds"`
}

// Serve starts to serve the page on a free port of 127.0.0.1. actor may be nil.
func Serve(recorder *Recorder, actor actor) (*Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{recorder: recorder, actor: actor, listener: listener, secret: rand.Text()}
	s.http = &http.Server{Handler: s.guard(s.routes()), ReadHeaderTimeout: 10 * time.Second}
	go s.http.Serve(listener)
	return s, nil
}

// URL is the page's address. Keep it secret, because it lets anyone press the buttons.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() + "/" + s.secret + "/" }

// Close ends the server and its connections.
func (s *Server) Close() error { return s.http.Close() }

func (s *Server) routes() http.Handler {
	files, err := fs.Sub(page, "page")
	if err != nil {
		panic(err) // the folder is embedded
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(files))
	mux.HandleFunc("GET /items", s.items)
	mux.HandleFunc("POST /do", s.do)
	return mux
}

// guard lets only the page's own requests through.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin")
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		address := s.listener.Addr().String()
		if r.Host != address { // another name that leads here: DNS rebinding
			http.Error(w, "this server is only "+address, http.StatusMisdirectedRequest)
			return
		}
		origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
		if origin != "" && origin != "http://"+address || r.Method != http.MethodGet && origin == "" || site == "cross-site" && r.Header.Get("Sec-Fetch-Mode") != "navigate" {
			http.Error(w, "this request comes from another page", http.StatusForbidden)
			return
		}
		secret, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		if subtle.ConstantTimeCompare([]byte(secret), []byte(s.secret)) != 1 {
			http.Error(w, "the address lacks its secret: use the one that the terminal shows", http.StatusNotFound)
			return
		}
		r.URL.Path = "/" + rest
		next.ServeHTTP(w, r)
	})
}

// items streams batches of items as server-sent events. A browser that reconnects continues where
// it was.
func (s *Server) items(w http.ResponseWriter, r *http.Request) {
	position := 0
	fmt.Sscan(r.Header.Get("Last-Event-ID"), &position) // 0 if there is none
	w.Header().Set("Content-Type", "text/event-stream")
	control := http.NewResponseController(w)
	var controls string
	for {
		if now := s.controls(); now != controls {
			controls = now
			fmt.Fprintf(w, "event: controls\ndata: %s\n\n", controls)
		}
		if control.Flush() != nil {
			return
		}
		batch, err := s.recorder.Since(r.Context(), position)
		if err != nil {
			return
		}
		content, err := json.Marshal(batch)
		if err != nil {
			return
		}
		if _, err := fmt.Fprintf(w, "id: %d\ndata: %s\n\n", batch.Position, content); err != nil {
			return
		}
		position = batch.Position
		select { // a page can't show more than this anyway
		case <-time.After(50 * time.Millisecond):
		case <-r.Context().Done():
		}
	}
}

// controls returns the page's controls as JSON. A change is sent with the next item, or when
// Recorder.Wake is called.
func (s *Server) controls() string {
	controls := Controls{Title: "a recording", Replay: true}
	if s.actor != nil {
		controls = s.actor.Controls()
	}
	content, err := json.Marshal(controls)
	if err != nil {
		return "{}"
	}
	return string(content)
}

func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	var action Action
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10_000)).Decode(&action); err != nil {
		http.Error(w, "the action isn't JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	if s.actor == nil {
		http.Error(w, "a recording can't be changed", http.StatusConflict)
		return
	}
	command, err := s.actor.Do(r.Context(), action)
	var unknown unknownAction
	switch {
	case errors.As(err, &unknown):
		http.Error(w, err.Error(), http.StatusBadRequest)
	case err != nil:
		answer(w, map[string]string{"command": command, "error": err.Error()})
	default:
		answer(w, map[string]string{"command": command})
	}
}

// unknownAction is the error for an action that doesn't exist.
type unknownAction string

func (u unknownAction) Error() string { return fmt.Sprintf("there is no action %q", string(u)) }

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) // if the page has gone, nobody needs it
}
