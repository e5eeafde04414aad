package main

// The webhooks of a program that runs here: the cluster calls them for as long as it runs.

import (
	"context"
	"fmt"
	"os"

	"example.com/operators/scripts/internal/program"
	"example.com/operators/scripts/internal/webhooks"
)

// serveWebhooks returns the flags that the program needs to serve its webhooks, and has the cluster call them as soon as it does. stop
// takes that back.
func serveWebhooks(ctx context.Context, p program.Program, ready *prepared) (flags []string, stop func(), err error) {
	manifests, err := os.ReadFile(p.Webhooks)
	if err != nil {
		return nil, nil, err
	}
	local, err := webhooks.New(ready.dir)
	if err != nil {
		return nil, nil, err
	}
	configurations, err := local.Configurations(manifests, "")
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if local.Await(ctx) != nil {
			return // the program has ended before it answered
		}
		if err := ready.kubectl.Apply(ctx, configurations); err != nil && ctx.Err() == nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks aren't called:", err)
		}
	}()
	stop = func() {
		cancel()
		<-done
		if err := webhooks.Delete(context.WithoutCancel(ctx), ready.kubectl); err != nil {
			fmt.Fprintln(os.Stderr, "workshop: the webhooks are still called, though nobody answers: the next run takes them away:", err)
		}
	}
	return local.Flags(), stop, nil
}
