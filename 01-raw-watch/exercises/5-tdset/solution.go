//go:build solution

// Command 5-tdset is a controller for TDSets over plain HTTP. A TDSet asks for a Deployment that is
// scaled by the time of day.
package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"example.com/operators/01-raw-watch/wire"
)

// noWindow means that no window is active.
const noWindow = -1

// scheduleAt returns what spec asks for at an instant: the number of replicas, the active window
// (as an index into SchedulingConfig, or noWindow), and the next time at which another window
// becomes active or none is left. If that never happens, next is the zero time. All hours are in
// UTC.
func scheduleAt(spec TDSetSpec, instant time.Time) (replicas int32, window int, next time.Time) {
	hour := instant.UTC().Truncate(time.Hour)
	window = windowAt(spec.SchedulingConfig, hour.Hour())
	replicas = spec.DefaultReplica
	if window != noWindow {
		replicas = spec.SchedulingConfig[window].Replica
	}
	// Windows begin and end on the hour, and every day is the same. So if the other 23 hours have
	// the same window, it never changes.
	for range 23 {
		hour = hour.Add(time.Hour)
		if windowAt(spec.SchedulingConfig, hour.Hour()) != window {
			return replicas, window, hour
		}
	}
	return replicas, window, time.Time{}
}

// windowAt returns the first window that is active in an hour of the day (0 to 23), or noWindow.
func windowAt(windows []Scheduling, hour int) int {
	return slices.IndexFunc(windows, func(w Scheduling) bool {
		if w.StartTime < w.EndTime {
			return w.StartTime <= hour && hour < w.EndTime
		}
		return w.StartTime <= hour || hour < w.EndTime // it ends on the next day
	})
}

// retryAfter is the pause between a failure and the next try. Chapter 03 does better.
const retryAfter = time.Minute

// run keeps the Deployments up to date until ctx ends.
func (c *controller) run(ctx context.Context) {
	var reflectors sync.WaitGroup
	defer reflectors.Wait()
	events := make(chan wire.Event)
	reflectors.Go(func() { c.tdsetReflector.Run(ctx, events) })
	reflectors.Go(func() { c.deploymentReflector.Run(ctx, events) })

	due := map[types.NamespacedName]time.Time{} // when to sync each TDSet, if no event comes first
	for {
		// One alarm is enough for all TDSets, because each round sets it for the earliest time in
		// due. If there is none, it stays nil, and a nil channel never delivers.
		var alarm <-chan time.Time
		if first, some := earliest(due); some {
			alarm = c.clock.After(first.Sub(c.clock.Now()))
		}
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			// A Deployment has the name of its TDSet, so the key is the TDSet's, whichever of the
			// two the event is about.
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

// earliest returns the earliest time in due, if there is one.
func earliest(due map[types.NamespacedName]time.Time) (first time.Time, some bool) {
	for _, at := range due {
		if !some || at.Before(first) {
			first, some = at, true
		}
	}
	return first, some
}

// handle syncs one TDSet and stores the time at which it is due again. A deleted TDSet never is.
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
