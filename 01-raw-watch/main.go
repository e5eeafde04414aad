// Command 01-raw-watch is a controller for Foos over plain HTTP.
//
// Read it in the order in which data flows:
//   - reflectors.go and events.go: which changes concern which Foos
//   - handle.go and reconcile.go: the work on a Foo
//   - desired.go: the state that a Foo asks for
//   - read.go and write.go: the requests
//
// main.go only reads the flags and starts it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"example.com/operators/01-raw-watch/wire"
)

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "path of the kubeconfig file (default: as kubectl finds it, else the Pod's own account)")
	flag.StringVar(&o.namespace, "namespace", "", "act on this namespace only (default: all)")
	flag.BoolVar(&o.trace, "trace", false, "print each request and each event to standard output")
	logFlags := flag.NewFlagSet("", flag.ContinueOnError)
	klog.InitFlags(logFlags)
	flag.Var(logFlags.Lookup("v").Value, "v", "log level: 0 logs what was done, 4 also why")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "01-raw-watch:", err)
		os.Exit(1)
	}
}

// options are the values of the flags.
type options struct {
	kubeconfig, namespace string
	trace                 bool
}

// run runs the controller until ctx ends.
func run(ctx context.Context, o options) error {
	config, err := loadConfig(o.kubeconfig)
	if err != nil {
		return err
	}
	klog.InfoS("Starting", "server", config.Host, "namespace", o.namespace)
	defer klog.InfoS("Stopped")
	client, err := wire.NewClient(config)
	if err != nil {
		return err
	}
	if o.trace {
		client.TraceTo(os.Stdout)
	}
	controller := newController(client, o.namespace)

	controller.run(ctx)
	return nil
}
