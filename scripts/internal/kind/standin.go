//go:build ignore

// Command standin replaces nginx, and any application that answers HTTP, where no image can be
// pulled. It is the only file in an image FROM scratch.
//
//	standin                   answers on :80 and :8000 with its Pod's name, until SIGTERM
//	standin -stop-after 5s    takes that long to stop, as a server that finishes its requests
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	stopAfter := flag.Duration("stop-after", 0, "how long it takes to stop")
	flag.Parse()
	if err := serve(*stopAfter, ":80", ":8000"); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

// serve answers on these addresses until SIGTERM, and for stopAfter longer.
func serve(stopAfter time.Duration, addresses ...string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	name, err := os.Hostname()
	if err != nil {
		return err
	}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })
	failed := make(chan error, len(addresses))
	for _, address := range addresses {
		server := &http.Server{Addr: address, Handler: answer, ReadHeaderTimeout: 10 * time.Second}
		go func() {
			// Another container of the Pod may have the port.
			if err := server.ListenAndServe(); !errors.Is(err, syscall.EADDRINUSE) {
				failed <- err
			}
		}()
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		time.Sleep(stopAfter)
		return nil
	}
}
