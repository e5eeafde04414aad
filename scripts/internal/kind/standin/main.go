// Command standin stands in for nginx, and for any application that answers HTTP, where no image can be pulled: as the only file
// in an image FROM scratch.
//
//	standin                       answers on :80 and :8000 with its Pod's name, until it is told to stop
//	standin -stop-after 5s        takes that long to stop, as a server does that lets its requests end
//	standin get URL               prints what the URL answers; exit code 1 if that isn't 200 OK
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	stopAfter := flag.Duration("stop-after", 0, "how long it takes to stop")
	flag.Parse()
	if err := run(flag.Args(), *stopAfter); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(args []string, stopAfter time.Duration) error {
	switch {
	case len(args) == 2 && args[0] == "get":
		return get(args[1])
	case len(args) == 0:
		return serve(stopAfter, ":80", ":8000")
	}
	return fmt.Errorf("unknown arguments %q", args)
}

func get(url string) error {
	client := http.Client{Timeout: 10 * time.Second}
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", url, answer.Status)
	}
	_, err = io.Copy(os.Stdout, answer.Body)
	return err
}

// serve answers on these addresses until SIGTERM, and for a while after it.
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
			if err := server.ListenAndServe(); !errors.Is(err, syscall.EADDRINUSE) { // another container of the Pod has the port
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
