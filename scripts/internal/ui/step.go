package ui

// A step under way: the line that moves, or the plain lines in its stead.

import (
	"fmt"
	"sync"
	"time"
)

const (
	frame   = 100 * time.Millisecond // a moving line is drawn this often
	patient = 2 * time.Second        // a shorter step says nothing before its end, where lines can't move
	report  = 15 * time.Second       // how often a plain line says that the step is alive
)

// Step is a piece of work under way. All methods may be called from any goroutine; Done or Fail ends it.
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

// Start begins a step and shows it until Done or Fail.
func (u *UI) Start(what string) *Step {
	s := &Step{ui: u, what: what, start: time.Now(), stop: make(chan struct{})}
	switch {
	case u.follow != nil:
		u.follow(what)
	case u.width != nil:
		s.ended.Go(func() { s.show(frame, frame, s.draw) })
	default:
		s.ended.Go(func() { s.show(patient, report, func() { s.ui.Say("%s", s.text()) }) })
	}
	return s
}

// While shows a step while work runs, and then the result, or nothing if that is "".
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

// Update says what the step is at now: a counter, a name. It is cheap.
func (s *Step) Update(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detail = fmt.Sprintf(format, args...)
	if s.ui.follow != nil {
		s.ui.follow(s.text())
	}
}

// Note prints a line that stays, while the step goes on.
func (s *Step) Note(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.erase()
	s.ui.Say(format, args...)
}

// Done ends the step well: its line is replaced by this one, with a mark and the time that it took.
func (s *Step) Done(format string, args ...any) {
	s.Drop()
	s.ui.Say("%s %s (%s)", s.ui.palette.Green.Sprint("✓"), fmt.Sprintf(format, args...), s.elapsed())
}

// Fail ends the step badly. The reason is the caller's to report.
func (s *Step) Fail() {
	s.Drop()
	s.ui.Say("%s %s (%s)", s.ui.palette.Red.Sprint("✗"), s.what, s.elapsed())
}

// Drop ends the step without a word: there was nothing to do after all.
func (s *Step) Drop() {
	close(s.stop)
	s.ended.Wait()
	s.erase()
}

// show calls display after first, and then every interval, until the step ends.
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
