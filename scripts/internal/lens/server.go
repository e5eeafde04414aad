package lens

// The page's server. It listens on loopback only, its URL has a secret, and it refuses requests with
// another host name and writes from another page. So no website can use it through the browser.

import (
	"bytes"
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
	actor    actor
	listener net.Listener
	http     *http.Server
	secret   string
}

// actor carries out what the page's buttons ask for.
type actor interface {
	// Controls describes the buttons.
	Controls() Controls
	// Do carries out an action.
	Do(ctx context.Context, action Action) error
}

// Judged is the actor of an operator of this name, to which the judge does everything.
type Judged string

func (j Judged) Controls() Controls {
	return Controls{Title: string(j), Programs: []string{"replica 1"}, Objects: []string{}, Buttons: []Button{}, Actor: "the judge"}
}

func (Judged) Do(context.Context, Action) error { return errors.New("there are no buttons") }

// Controls are what the page offers.
type Controls struct {
	Title    string   `json:"title"`
	Programs []string `json:"programs"`
	Objects  []string `json:"objects"` // names of the managed objects
	Buttons  []Button `json:"buttons"`
	// Look is the prepared scenario that the page shows, if any.
	Look *Shown `json:"look,omitempty"`
	// Actor is who did what the first lane shows, or "" if that is you.
	Actor string `json:"actor,omitempty"`
	// Replay means that everything has happened already.
	Replay bool `json:"replay,omitempty"`
}

// Button is one action that the page offers.
type Button struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	Help   string `json:"help"`
	Group  string `json:"group"`
	// Object means that the action needs an object.
	Object bool `json:"object,omitempty"`
	// Switch means that the button turns something on and off, and On that it is on now.
	Switch bool `json:"switch,omitempty"`
	On     bool `json:"on,omitempty"`
}

// Action is what the page asks for.
type Action struct {
	Action string `json:"action"`
	Object string `json:"object"`
}

// Serve starts to serve the page on a free port of 127.0.0.1.
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
	next = http.NewCrossOriginProtection().Handler(next) // other pages can't press the buttons
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "+
			"img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		header.Set("Cross-Origin-Resource-Policy", "same-origin") // nor read anything
		header.Set("Cross-Origin-Opener-Policy", "same-origin")
		header.Set("Cache-Control", "no-store")
		address := s.listener.Addr().String()
		if r.Host != address { // another name that leads here: DNS rebinding
			http.Error(w, "this server is only "+address, http.StatusMisdirectedRequest)
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

// items streams what changes as server-sent events: batches of items, and the controls.
func (s *Server) items(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	var controls []byte
	position := 0
	for r.Context().Err() == nil {
		now, err := json.Marshal(s.actor.Controls())
		if err != nil {
			return
		}
		if !bytes.Equal(now, controls) {
			controls = now
			fmt.Fprintf(w, "event: controls\ndata: %s\n\n", controls)
		}
		items, next := s.recorder.Since(position)
		if len(items) > 0 {
			content, err := json.Marshal(items)
			if err != nil {
				return
			}
			position = next
			fmt.Fprintf(w, "data: %s\n\n", content)
		}
		if http.NewResponseController(w).Flush() != nil {
			return // the page has gone
		}
		_ = sleep(r.Context(), 50*time.Millisecond) // a page can't show more than this anyway
	}
}

func (s *Server) do(w http.ResponseWriter, r *http.Request) {
	var action Action
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 10_000)).Decode(&action); err != nil {
		http.Error(w, "the action isn't JSON: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.actor.Do(r.Context(), action); err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	}
}
