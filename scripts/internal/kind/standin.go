//go:build ignore

// Command standin replaces nginx, and any application that answers HTTP, in the Pods of tests. It
// answers on :80 and :8000 with its Pod's name until SIGTERM, and then takes as long to stop as its
// argument says. It is the only file in an image FROM scratch.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	stopsAfter, err := time.ParseDuration(os.Args[1])
	if err != nil {
		panic(err)
	}
	name, _ := os.Hostname()
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, name) })
	for _, address := range []string{":80", ":8000"} {
		// Another container of the Pod may have the port.
		go func() { fmt.Fprintln(os.Stderr, "standin:", http.ListenAndServe(address, nil)) }()
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	defer stop()
	<-ctx.Done()
	time.Sleep(stopsAfter)
}
