// Command stand-in does nothing until SIGTERM. It runs in the Pods of the end-to-end tests, so that
// no image has to be pulled.
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	<-terminated
}
