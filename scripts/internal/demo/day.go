package demo

// What of a TDSet's tour kubectl couldn't wait for. Above all a day that passes fast, and its chart: how many replicas there were in each
// half hour.

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

	"example.com/operators/scripts/internal/zones"
)

const slots = 48 // half hours

// The day begins on the evening before. By midnight, the Deployment is settled.
const (
	evening = 3 // hours
	speed   = time.Hour / time.Second
)

// day is what a Deployment goes through while a day passes in fastZone.
type day struct {
	begun      time.Time // three hours before midnight
	deployment string
	want       []int32 // the replicas that are to be asked for, one after the other, the evening before included
}

// sample is what a Deployment was like from an instant on.
type sample struct {
	at                 time.Duration // of the day that passes; negative: on the evening before
	desired, available int32
}

// begin makes fastZone, for programs with $ZONEINFO.
func (y *day) begin(d *Demo) error {
	y.begun = time.Now().Truncate(time.Second)
	return zones.Write(zoneFolder(d.Root), map[string][]zones.Change{fastZone: zones.Fast(y.begun, 24-evening, evening+24)})
}

// watch follows the Deployment until the day is over, draws the chart, and returns an error if other replicas were asked for than wanted.
func (y *day) watch(ctx context.Context, d *Demo) error {
	ctx, cancel := context.WithDeadline(ctx, y.begun.Add(((evening+24)*time.Hour-10*time.Minute)/speed)) // before midnight comes again
	defer cancel()
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(y.begun.Add((evening - 1) * time.Hour / speed))): // since then it has the replicas of the evening
	}
	fmt.Fprintln(d.Out)
	var samples []sample
	err := d.follow(ctx, y.deployment, func(deployment *appsv1.Deployment) (enough bool) {
		now := sample{at: time.Since(y.begun)*speed - evening*time.Hour, desired: ptr.Deref(deployment.Spec.Replicas, 1), available: deployment.Status.AvailableReplicas}
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

// untilReplicasAreNot waits until a Deployment asks for other than so many replicas.
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
			err = fmt.Errorf("still %d replicas are asked for by Deployment %s", replicas, deployment)
		}
		return err
	}
}

// follow calls see with a Deployment now and on each change, until see returns true or ctx ends.
func (d *Demo) follow(ctx context.Context, deployment string, see func(*appsv1.Deployment) (enough bool)) error {
	watch, err := d.client.AppsV1().Deployments(d.namespace).Watch(ctx, metav1.SingleObject(metav1.ObjectMeta{Name: deployment}))
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

func desired(samples []sample) []int32 {
	var all []int32
	for _, s := range samples {
		all = append(all, s.desired)
	}
	return slices.Compact(all)
}

// draw draws a column for each half hour: the replicas that ran in the middle of it, and those that were asked for and didn't run yet.
func draw(out io.Writer, samples []sample) {
	columns := make([]sample, slots)
	most := int32(1)
	for _, s := range samples {
		first := max(0, int((s.at+15*time.Minute-1)/(30*time.Minute))) // the first half hour whose middle is not before it
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
