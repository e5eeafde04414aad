package demo

// The parts of a TDSet's tour that kubectl can't wait for: above all a fast day, and its chart of
// the replicas in each half hour.

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"example.com/operators/scripts/internal/program"
)

const slots = 48 // half hours

// The day begins on the evening before, so that the Deployment has settled by midnight.
const (
	evening = 3 // hours
	speed   = time.Hour / time.Second
)

type day struct {
	begun      time.Time // three hours before midnight
	deployment string
	want       []int32 // the desired replicas in order, beginning on the evening before
}

// sample is a Deployment's state from an instant on.
type sample struct {
	at                 time.Duration // of the fast day; negative: on the evening before
	desired, available int32
}

// begin writes fastZone for programs with $ZONEINFO.
func (y *day) begin(d *Demo) error {
	y.begun = time.Now().Truncate(time.Second)
	zone := program.FastZone(y.begun, 24-evening, evening+24)
	return program.WriteZones(zoneFolder(d.Root), map[string][]program.ZoneChange{fastZone: zone})
}

// watch follows the Deployment until the day ends, draws the chart, and compares the replicas.
func (y *day) watch(ctx context.Context, d *Demo) error {
	settled := y.begun.Add((evening - 1) * time.Hour / speed)
	beforeMidnight := y.begun.Add(((evening+24)*time.Hour - 10*time.Minute) / speed)
	ctx, cancel := context.WithDeadline(ctx, beforeMidnight)
	defer cancel()
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(settled)):
	}
	fmt.Fprintln(d.Out)
	var samples []sample
	err := d.follow(ctx, y.deployment, func(deployment *appsv1.Deployment) (enough bool) {
		now := sample{
			at:        time.Since(y.begun)*speed - evening*time.Hour,
			desired:   ptr.Deref(deployment.Spec.Replicas, 1),
			available: deployment.Status.AvailableReplicas,
		}
		if samples == nil || samples[len(samples)-1].desired != now.desired {
			fmt.Fprintf(d.Out, "  %s  %d replicas\n", clock(now.at), now.desired)
		}
		samples = append(samples, now)
		return false
	})
	if err != nil {
		return err
	}
	draw(d.Out, samples)
	if got := desired(samples); !slices.Equal(got, y.want) {
		return fmt.Errorf("desired replicas during the day: %d, want %d", got, y.want)
	}
	return nil
}

// untilReplicasAreNot waits until the Deployment's spec has another number of replicas.
func untilReplicasAreNot(deployment string, replicas int32) func(context.Context, *Demo) error {
	return func(ctx context.Context, d *Demo) error {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		others := false
		err := d.follow(ctx, deployment, func(found *appsv1.Deployment) (enough bool) {
			others = ptr.Deref(found.Spec.Replicas, 1) != replicas
			return others
		})
		if err == nil && !others {
			err = fmt.Errorf("spec.replicas of Deployment %s is still %d", deployment, replicas)
		}
		return err
	}
}

// follow calls see with a Deployment now and on each change, until see returns true or ctx ends.
func (d *Demo) follow(ctx context.Context, deployment string, see func(*appsv1.Deployment) (enough bool)) error {
	one := metav1.SingleObject(metav1.ObjectMeta{Name: deployment})
	watch, err := d.client.AppsV1().Deployments(d.namespace).Watch(ctx, one)
	if err != nil {
		return err
	}
	defer watch.Stop()
	for event := range watch.ResultChan() {
		if found, ok := event.Object.(*appsv1.Deployment); ok && see(found) {
			break
		}
	}
	return nil
}

func clock(at time.Duration) string { return time.Time{}.Add(24*time.Hour + at).Format("15:04") }

func desired(samples []sample) (all []int32) {
	for _, s := range samples {
		all = append(all, s.desired)
	}
	return slices.Compact(all)
}

// draw draws a column for the middle of each half hour: available and desired replicas.
func draw(out io.Writer, samples []sample) {
	columns := make([]sample, slots)
	most := int32(1)
	for _, s := range samples {
		first := max(0, int((s.at+15*time.Minute-1)/(30*time.Minute))) // whose middle isn't before s.at
		for i := first; i < slots; i++ {
			columns[i] = s
		}
		most = max(most, s.desired, s.available)
	}
	fmt.Fprintln(out)
	for level := most; level >= 1; level-- {
		var row strings.Builder
		for _, column := range columns {
			switch {
			case column.available >= level:
				row.WriteRune('█')
			case column.desired >= level:
				row.WriteRune('░')
			default:
				row.WriteRune(' ')
			}
		}
		fmt.Fprintf(out, "  %2d │%s\n", level, strings.TrimRight(row.String(), " "))
	}
	fmt.Fprintf(out, "     └%s\n", strings.Repeat("─", slots))
	fmt.Fprint(out, "      ")
	for hour := 0; hour < 24; hour += 3 {
		fmt.Fprintf(out, "%-6d", hour)
	}
	fmt.Fprintln(out, "24 o'clock")
	fmt.Fprintln(out, "      █ available   ░ desired, not available yet")
}
