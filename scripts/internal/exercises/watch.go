package exercises

// Watch mode: the exercise at hand is checked whenever it is saved. One loop does all there is to do; a check under way, the
// keys and the files each tell it what has happened.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	"example.com/operators/scripts/internal/problem"
)

// patience is how long a check may take before something is said about it, and again each time.
const patience = 5 * time.Second

// Watch checks exercises as they are saved.
type Watch struct {
	Checker  Checker
	Terminal Terminal
	// Exercises are those to go through, and Start is the one to begin with.
	Exercises []Exercise
	Start     Exercise
}

// session is one run of a Watch.
type session struct {
	Watch
	saves   *saves
	current Exercise

	checked string             // the contents that were checked last
	stop    context.CancelFunc // breaks off the check under way; nil: there is none
	begun   time.Time          // when that began
	results chan result        // of the check under way
	slow    *time.Timer        // fires when that takes long
}

// result is what came of a check in its own goroutine.
type result struct {
	verdict Verdict
	err     error
	panic   string
}

// key codes: in raw mode they are just bytes.
const (
	ctrlC = 3
	ctrlD = 4
)

// Run goes on until the user quits or ctx ends, and has the terminal back as it was then, whatever happened.
func (w Watch) Run(ctx context.Context) error {
	defer w.Terminal.Close()
	files, err := newSaves()
	if err != nil {
		return err
	}
	defer files.close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s := &session{Watch: w, saves: files, slow: time.NewTimer(time.Hour)}
	defer s.breakOff()
	if err := s.open(ctx, w.Start); err != nil {
		return err
	}
	return s.loop(ctx, readKeys(ctx, w.Terminal.Keys))
}

func (s *session) loop(ctx context.Context, keys <-chan byte) error {
	for {
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is how this ends, where there are no keys
		case key, open := <-keys:
			if !open || key == 'q' || key == ctrlC || key == ctrlD {
				s.say("")
				return nil
			}
			if err := s.press(ctx, key); err != nil {
				return err
			}
		case event := <-s.saves.watcher.Events:
			s.saves.take(event)
		case err := <-s.saves.watcher.Errors:
			s.complain(fmt.Errorf("a save may have gone unnoticed (c checks again): %w", err))
		case <-s.saves.quiet.C:
			if now, whole := contents(s.current); whole && now != s.checked {
				s.check(ctx)
			}
		case r := <-s.results:
			s.show(r)
		case <-s.slow.C:
			if s.stop != nil {
				s.say("still at it (%s); the first time, Go compiles the libraries too", time.Since(s.begun).Round(time.Second))
				s.slow.Reset(patience)
			}
		}
	}
}

// readKeys reads in a goroutine of its own, which ends with the reader or with ctx.
func readKeys(ctx context.Context, in io.Reader) <-chan byte {
	if in == nil {
		return nil
	}
	keys := make(chan byte)
	go func() {
		defer close(keys)
		buffer := make([]byte, 1)
		for {
			if _, err := in.Read(buffer); err != nil {
				return
			}
			select {
			case keys <- buffer[0]:
			case <-ctx.Done():
				return
			}
		}
	}()
	return keys
}

// press does what a key asks for. Others than these mean nothing: the arrows send several bytes.
func (s *session) press(ctx context.Context, key byte) error {
	switch key {
	case 'h':
		s.say("")
		if err := ShowHint(ctx, s.Checker.Root, s.current, false, s.Terminal.Out, s.Terminal.Colour); err != nil {
			s.complain(err)
		}
	case 'l':
		progress, err := ReadProgress(s.Checker.Root)
		if err != nil {
			s.complain(err)
			return nil
		}
		s.say("")
		return NewOverview(s.Exercises, progress).Print(s.Terminal.Out, s.Terminal.Colour)
	case 'n':
		progress, err := ReadProgress(s.Checker.Root)
		if err != nil {
			s.complain(err)
			return nil
		}
		next, found := NextOpen(s.Exercises, s.current, progress)
		if !found {
			s.say("\nNo other exercise is left to do.")
			return nil
		}
		return s.open(ctx, next)
	case 'c':
		return s.open(ctx, s.current)
	}
	return nil
}

// open makes an exercise the current one and checks it.
func (s *session) open(ctx context.Context, e Exercise) error {
	s.current = e
	if err := s.saves.follow(e); err != nil {
		return err
	}
	s.check(ctx)
	return nil
}

// check begins a check, in place of the one under way if there is one.
func (s *session) check(ctx context.Context) {
	s.breakOff()
	s.checked, _ = contents(s.current)
	if s.Terminal.Clear {
		fmt.Fprint(s.Terminal.Out, "\033[2J\033[H")
	}
	s.say("Checking %s …", s.current.Path(exerciseFile))
	ctx, s.stop = context.WithCancel(ctx)
	s.begun = time.Now()
	s.slow.Reset(patience)
	results, exercise := make(chan result, 1), s.current
	s.results = results
	go func() {
		var r result
		defer func() {
			if p := recover(); p != nil {
				r.panic = fmt.Sprintf("%v\n\n%s", p, debug.Stack())
			}
			results <- r
		}()
		r.verdict, r.err = s.Checker.Check(ctx, exercise)
	}()
}

// breakOff ends the check under way, and waits until nothing of it runs any more.
func (s *session) breakOff() {
	if s.stop != nil {
		s.stop()
		<-s.results
		s.stop = nil
	}
	s.slow.Stop()
}

// show shows what came of a check.
func (s *session) show(r result) {
	s.stop()
	s.stop = nil
	s.slow.Stop()
	switch {
	case r.panic != "":
		panic(r.panic) // here, where the terminal is put back
	case errors.Is(r.err, context.Canceled):
		return // the whole run ends
	}
	s.say("")
	if r.verdict.Exercise.Folder != "" {
		_ = r.verdict.Print(s.Terminal.Out, s.Terminal.Colour) // a terminal that is gone ends the keys, too
	}
	if r.err != nil {
		s.complain(r.err)
	}
	if r.err == nil {
		s.say("\n%s", s.advice(r.verdict))
	}
	if s.Terminal.Keys == nil {
		s.say("\nWaiting for the next save. Ctrl-C ends this.")
		return
	}
	s.say("\nh hint   l list   n next   c check again   q quit")
}

// advice is what to do next.
func (s *session) advice(v Verdict) string {
	advice, err := v.Advice(s.Checker.Root, s.Exercises)
	if err != nil {
		return problem.Format(err)
	}
	return advice
}

func (s *session) say(format string, args ...any) { fmt.Fprintf(s.Terminal.Out, format+"\n", args...) }

func (s *session) complain(err error) { s.say("\n%s", problem.Format(err)) }
