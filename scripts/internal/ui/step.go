package ui

// A step in progress: a line that changes, or plain lines where that isn't possible.

import (
	"fmt"
	"sync"
	"time"
)

const (
	frameInterval  = 100 * time.Millisecond // between two updates of a line that changes
	firstReport    = 2 * time.Second        // of a plain step; shorter steps only print their end
	reportInterval = 15 * time.Second       // between a plain step's reports
)

// Step is work in progress. Its methods are safe for concurrent use. Done, Fail or Drop ends it.
type Step struct {
	ui    *UI
	what  string
	start time.Time
	stop  chan struct{}
	ended sync.WaitGroup

	mu     sync.Mutex // guards the fields below, and ui.out while the step runs
	detail string
	frames int
}

func (u *UI) Start(what string) *Step {
	s := &Step{ui: u, what: what, start: time.Now(), stop: make(chan struct{})}
	if u.width != nil {
		s.ended.Go(func() { s.show(frameInterval, frameInterval, s.draw) })
	} else {
		s.ended.Go(func() { s.show(firstReport, reportInterval, func() { s.ui.Say("%s", s.text()) }) })
	}
	return s
}

// While shows a step while work runs, and then its result, unless that is "".
func (u *UI) While(what string, work func(*Step) (done string, err error)) error {
	step := u.Start(what)
	done, err := work(step)
	switch {
	case err != nil:
		step.Fail()
	case done == "":
		step.Drop()
	default:
		step.Done("%s", done)
	}
	return err
}

// Update shows the step's current detail: a counter, or a name.
func (s *Step) Update(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detail = fmt.Sprintf(format, args...)
}

// Note prints a line that stays, while the step continues.
func (s *Step) Note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.ui.Say(format, args...)
}

// Done ends the step, and replaces its line with this one, a mark, and the elapsed time.
func (s *Step) Done(format string, args ...any) {
	s.Drop()
	s.ui.Say("%s %s (%s)", s.ui.palette.Green.Sprint("✓"), fmt.Sprintf(format, args...), s.elapsed())
}

// Fail ends the step as failed. The caller reports the reason.
func (s *Step) Fail() {
	s.Drop()
	s.ui.Say("%s %s (%s)", s.ui.palette.Red.Sprint("✗"), s.what, s.elapsed())
}

func (s *Step) Drop() {
	close(s.stop)
	s.ended.Wait()
	s.erase()
}

// show calls display after first, and then at each interval, until the step ends.
func (s *Step) show(first, interval time.Duration, display func()) {
	timer := time.NewTimer(first)
	defer timer.Stop()
	for {
		select {
		case <-s.stop:
			return
		case <-timer.C:
			s.mu.Lock()
			display()
			s.mu.Unlock()
			timer.Reset(interval)
		}
	}
}

func (s *Step) draw() {
	spinner := []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")
	line := []rune(string(spinner[s.frames%len(spinner)]) + " " + s.text())
	if w := s.ui.width(); w > 0 && len(line) >= w {
		line = line[:w-1] // a line that wraps can't be rewritten
	}
	s.frames++
	s.erase()
	fmt.Fprint(s.ui.out, string(line))
}

func (s *Step) erase() {
	if s.ui.width != nil {
		fmt.Fprint(s.ui.out, "\r\033[K")
	}
}

func (s *Step) text() string {
	text := s.what
	if s.detail != "" {
		text += ": " + s.detail
	}
	return fmt.Sprintf("%s (%s)", text, s.elapsed())
}

func (s *Step) elapsed() string {
	d := time.Since(s.start)
	if d < 10*time.Second {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return d.Round(time.Second).String()
}
