package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// serve listens on :80 and :8000, the ports of nginx and of the sample's image, until SIGTERM. If
// lingers is set, it continues until GET /release, so that a test decides how long a Pod takes to
// terminate, up to its grace period.
func serve(lingers bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	released := make(chan struct{})
	release := sync.OnceFunc(func() { close(released) })
	if !lingers {
		release()
	}

	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "host=%s stopping=%t\n", os.Getenv("HOSTNAME"), ctx.Err() != nil)
	})
	mux.HandleFunc("GET /release", func(http.ResponseWriter, *http.Request) { release() })
	servers, failed := []*http.Server{{Addr: ":80", Handler: mux}, {Addr: ":8000", Handler: mux}}, make(chan error, 2)
	for _, server := range servers {
		go func() { failed <- server.ListenAndServe() }()
	}

	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		<-released
	}
	var errs []error
	for _, server := range servers {
		errs = append(errs, server.Shutdown(context.Background())) // finishes pending requests first
	}
	return errors.Join(errs...)
}
