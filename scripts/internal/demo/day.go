package demo

// A TDSet's fast day.

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"example.com/operators/scripts/internal/program"
)

// fastZone is the TDSet's time zone while a day passes in half a minute. The API server knows the
// real one. In $ZONEINFO, the program finds one in which an hour passes each second.
const fastZone = "Antarctica/Troll"

// The day begins on the evening before, so that the Deployment has settled by midnight.
const (
	evening = 3 // hours
	speed   = time.Hour / time.Second
)

func zoneFolder(root string) string { return filepath.Join(root, ".workshop", "demo.zoneinfo") }

// beginDay writes fastZone for programs with $ZONEINFO.
func beginDay(d *Demo) error {
	d.dayBegan = time.Now().Truncate(time.Second)
	zone := program.FastZone(d.dayBegan, 24-evening, evening+24)
	return program.WriteZones(zoneFolder(d.Root), map[string][]program.ZoneChange{fastZone: zone})
}

// watchDay prints the replicas of a Deployment until the day ends, and compares them with the desired
// ones.
func watchDay(deployment string, want ...int32) func(context.Context, *Demo) error {
	return func(ctx context.Context, d *Demo) error {
		settled := d.dayBegan.Add((evening - 1) * time.Hour / speed)
		beforeMidnight := d.dayBegan.Add(((evening+24)*time.Hour - 10*time.Minute) / speed)
		day, cancel := context.WithDeadline(ctx, beforeMidnight)
		defer cancel()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Until(settled)):
		}
		clock := func(at time.Time) string {
			return time.Time{}.Add(at.Sub(d.dayBegan)*speed + (24-evening)*time.Hour).Format("15:04")
		}
		got, err := d.follow(day, deployment, "", clock, func([]int32) bool { return false })
		if err == nil && !slices.Equal(got, want) {
			err = fmt.Errorf("desired replicas during the day: %d, want %d", got, want)
		}
		return err
	}
}
