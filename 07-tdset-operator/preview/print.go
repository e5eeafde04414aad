// Prints a week as plain text.

package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	schedulev2 "example.com/operators/07-tdset-operator/api/v2"
	"example.com/operators/07-tdset-operator/internal/schedule"
)

// printWeek writes a TDSet's week to out: warnings, a chart of replicas by hour, and the
// transitions. from is the first day. If it is zero, the week begins with now's day in the TDSet's
// zone. The TDSet must be valid.
func printWeek(out io.Writer, tdset *schedulev2.TDSet, from, now time.Time) error {
	zone, err := schedule.Location(&tdset.Spec)
	if err != nil {
		return err
	}
	if from.IsZero() {
		from = now.In(zone)
	}
	week, err := weekOf(&tdset.Spec, from)
	if err != nil {
		return err
	}
	p := printer{&tdset.Spec, &strings.Builder{}}
	p.line("%s, in hours of %s", nameOf(tdset), zone)
	for _, warning := range schedule.Warnings(&tdset.Spec, field.NewPath("spec")) {
		p.line("Warning: %s", warning)
	}
	p.chart(week)
	p.transitions(week)
	_, err = io.WriteString(out, p.String())
	return err
}

// nameOf names a TDSet, which may have no name yet.
func nameOf(tdset *schedulev2.TDSet) string {
	name := cmp.Or(tdset.Name, tdset.GenerateName, "(a TDSet without a name)")
	if tdset.Namespace != "" {
		return tdset.Namespace + "/" + name
	}
	return name
}

type printer struct {
	spec *schedulev2.TDSetSpec
	*strings.Builder
}

func (p printer) line(format string, args ...any) {
	fmt.Fprintf(p, format+"\n", args...)
}

const (
	dateFormat   = "Mon 2006-01-02"
	offsetFormat = "15:04 -07:00"
)

// chart shows replicas by day and hour, none in hours that are skipped, and notes changed clocks.
func (p printer) chart(week *Week) {
	wide := 2 // columns
	for _, day := range week.Days {
		for _, hour := range day.Hours {
			wide = max(wide, len(fmt.Sprint(hour.Replicas)))
		}
	}
	row := func(title string, cell func(hour int) string) {
		fmt.Fprintf(p, "%-16s", title)
		for hour := range 24 {
			fmt.Fprintf(p, " %*s", wide, cell(hour))
		}
		p.line("")
	}
	p.line("")
	row("hour", strconv.Itoa)
	for _, day := range week.Days {
		title := day.Date.Format(dateFormat)
		if slices.ContainsFunc(week.Changes, func(c Change) bool { return sameDate(c.From, day.Date) }) {
			title += " *"
		}
		row(title, func(hour int) string {
			if day.Hours[hour].Minutes == 0 {
				return "-"
			}
			return fmt.Sprint(day.Hours[hour].Replicas)
		})
	}
	for _, change := range week.Changes {
		p.line("* %s", change)
	}
}

// String describes the change, with both dates if it leads to another day.
func (c Change) String() string {
	_, before := c.From.Zone()
	_, after := c.To.Zone()
	direction, to := "forward", offsetFormat
	if after < before {
		direction = "back"
	}
	if !sameDate(c.From, c.To) {
		to = dateFormat + " " + offsetFormat
	}
	return fmt.Sprintf("%s: clocks are set %s from %s to %s",
		c.From.Format(dateFormat), direction, c.From.Format(offsetFormat), c.To.Format(to))
}

func (p printer) transitions(week *Week) {
	p.line("")
	if begin := week.Begin; begin.Next.IsZero() {
		p.line("%s is active at all times; replicas: %d", schedule.Name(p.spec, begin.Window), begin.Replicas)
		return
	}
	const row = "%-27s  %-7s  %v"
	p.line(row, "from", "active", "replicas")
	p.line(row, "the beginning", schedule.Name(p.spec, week.Begin.Window), week.Begin.Replicas)
	for _, transition := range week.Transitions {
		to := transition.To
		p.line(row, transition.At.Format(dateFormat+" "+offsetFormat), schedule.Name(p.spec, to.Window), to.Replicas)
	}
}

func sameDate(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }
