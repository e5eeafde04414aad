// A time for trying things out: it begins when one likes, and passes as fast as one likes, so that a day of scaling is seen in a minute.
// It is the controller's alone: leases, timeouts and logs have the computer's. Its flags aren't in -h, and are refused in a cluster.

package main

import (
	"errors"
	"flag"
	"time"

	"example.com/operators/07-tdset-operator/internal/controller"
)

const (
	fastest = 24 * 60 * 60               // a day a second
	forever = 100 * 365 * 24 * time.Hour // a wait that doesn't end; short enough to be added to any time
)

// passing is what the flags say about time.
type passing struct {
	start time.Time // the time at the start; zero: the computer's
	speed int64     // how many seconds pass in one of the computer's
}

// flags adds the flags that say it.
func (p *passing) flags() {
	p.speed = 1
	flag.Func("now", "", func(text string) (err error) {
		if p.start, err = time.Parse(time.RFC3339, text); err != nil {
			return errors.New("no time such as 2026-01-01T08:59:50Z")
		}
		return nil
	})
	flag.Int64Var(&p.speed, "clock-speed", p.speed, "")
}

// changed tells whether it is another time than the computer's.
func (p passing) changed() bool { return p != passing{speed: 1} }

// clock returns a clock that begins now.
func (p passing) clock() controller.Clock {
	if !p.changed() {
		return controller.RealClock{}
	}
	began := time.Now()
	if p.start.IsZero() {
		p.start = began.Round(0) // without the computer's monotonic reading, which passes at its own speed
	}
	return &scaledClock{passing: p, began: began}
}

// scaledClock shows start when the computer's clock shows began, and goes speed times as fast. It doesn't follow when that is set.
type scaledClock struct {
	passing
	began time.Time
}

// Now returns the time that this clock shows. After a hundred years it stands still: more doesn't fit into a time.Duration.
func (c *scaledClock) Now() time.Time {
	speed := time.Duration(c.speed)
	return c.start.Add(min(time.Since(c.began), forever/max(speed, 1)) * speed)
}

// Until returns how long to wait by the computer's clock until this one shows instant, or a little more: who has waited must not find
// that it is too early. Where time stands still, what isn't there yet never comes.
func (c *scaledClock) Until(instant time.Time) time.Duration {
	wait := instant.Sub(c.Now())
	switch {
	case wait <= 0:
		return wait
	case c.speed == 0:
		return forever
	}
	return min((wait-1)/time.Duration(c.speed)+1, forever)
}
