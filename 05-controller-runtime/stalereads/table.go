// The command line and the table: one row for each way.

package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"text/tabwriter"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
)

// starter starts a controller with that config, for the Foos in that namespace. It returns when the
// caches are filled. The controller works until ctx ends.
type starter func(ctx context.Context, config *rest.Config, namespace string) error

// row is a way to deal with a cache that is behind.
type row struct {
	way   string
	start starter
}

// compare reads the flags, does the experiment in each way, and prints the table.
func compare(rows ...row) {
	behind := flag.Duration("behind", time.Second, "how late the controllers get each event")
	foos := flag.Int("foos", 10, "how many Foos each controller has")
	flag.Parse()
	klog.SetLogger(klog.Logger{}) // logs nothing
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := printTable(ctx, *behind, *foos, rows); err != nil {
		fmt.Fprintln(os.Stderr, "stalereads:", err)
		os.Exit(1)
	}
}

func printTable(ctx context.Context, behind time.Duration, foos int, rows []row) error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		clientcmd.NewDefaultClientConfigLoadingRules(), &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	// The ways run at the same time, each in a namespace of its own.
	results, errs := make([]result, len(rows)), make([]error, len(rows))
	var running sync.WaitGroup
	for i, row := range rows {
		running.Go(func() {
			e := &experiment{behind: behind, foos: foos}
			results[i], errs[i] = e.run(ctx, config, row.start)
		})
	}
	running.Wait()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "WAY\tSURPLUS PODS\tWRITES\tREFUSED (409)\tREADS\tLATENCY")
	for i, row := range rows {
		if errs[i] != nil {
			return fmt.Errorf("%s: %w", row.way, errs[i])
		}
		r := results[i]
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%d\t%v\n", row.way, r.surplus, r.writes, r.refused, r.reads, r.latency.Round(time.Millisecond))
	}
	return table.Flush()
}
