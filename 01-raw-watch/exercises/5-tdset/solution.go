//go:build solution

// Command 5-tdset is a controller for TDSets over plain HTTP: Deployments that are scaled by the time of day.
package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/01-raw-watch/wire"
)

// noWindow is the active window where there is none.
const noWindow = -1

// scheduleAt returns what spec asks for at an instant: how many replicas; by which of its windows, as an index into
// schedulingConfig, or noWindow; and the next instant at which another window is active, or none any more. That is the
// zero time if the same one is active at all times. Hours are hours of UTC.
func scheduleAt(spec TDSetSpec, instant time.Time) (replicas int32, window int, next time.Time) {
	hour := instant.UTC().Truncate(time.Hour)
	window = windowAt(spec.SchedulingConfig, hour.Hour())
	replicas = spec.DefaultReplica
	if window != noWindow {
		replicas = spec.SchedulingConfig[window].Replica
	}
	// Windows begin and end on the hour, and each day is like the next: what no hour of a day changes, nothing does.
	for range 23 {
		hour = hour.Add(time.Hour)
		if windowAt(spec.SchedulingConfig, hour.Hour()) != window {
			return replicas, window, hour
		}
	}
	return replicas, window, time.Time{}
}

// windowAt returns the first window that is active in an hour of the day, 0 to 23.
func windowAt(windows []Scheduling, hour int) int {
	return slices.IndexFunc(windows, func(w Scheduling) bool {
		if w.StartTime < w.EndTime {
			return w.StartTime <= hour && hour < w.EndTime
		}
		return w.StartTime <= hour || hour < w.EndTime // past midnight, or up to it: then EndTime is 0
	})
}

// retryAfter is how long a TDSet is left alone after a failure. Chapter 03 does better.
const retryAfter = time.Minute

// run acts on events and on the time, until ctx ends.
func (c *controller) run(ctx context.Context) {
	var reflectors sync.WaitGroup
	defer reflectors.Wait()
	events := make(chan wire.Event)
	reflectors.Go(func() { c.tdsetReflector.Run(ctx, events) })
	reflectors.Go(func() { c.deploymentReflector.Run(ctx, events) })

	due := map[types.NamespacedName]time.Time{} // when to look at a TDSet again, if nothing happens before
	for {
		// One alarm for all of them: each round sets it again, for the first that is due. A nil channel never delivers.
		var alarm <-chan time.Time
		if first, some := earliest(due); some {
			alarm = c.clock.After(first.Sub(c.clock.Now()))
		}
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			// A Deployment has the name of its TDSet: whatever this event is about, its key is that of the TDSet concerned.
			c.handle(ctx, types.NamespacedName{Namespace: event.Object.Namespace, Name: event.Object.Name}, due)
		case <-alarm:
			for key, at := range due {
				if !at.After(c.clock.Now()) {
					c.handle(ctx, key, due)
				}
			}
		}
	}
}

// earliest returns the first of the times in due, if there is one.
func earliest(due map[types.NamespacedName]time.Time) (first time.Time, some bool) {
	for _, at := range due {
		if !some || at.Before(first) {
			first, some = at, true
		}
	}
	return first, some
}

// handle brings one TDSet up to date and notes when it is due again. One that is deleted is never due again.
func (c *controller) handle(ctx context.Context, key types.NamespacedName, due map[types.NamespacedName]time.Time) {
	next, err := c.syncHandler(ctx, key)
	if err != nil {
		logFailure(ctx, key, err)
		// Without this, a write that fails at nine o'clock would be lost until the next boundary.
		next = c.clock.Now().Add(retryAfter)
	}
	if next.IsZero() {
		delete(due, key)
		return
	}
	due[key] = next
}
