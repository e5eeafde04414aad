package watch

// What the keys do.

import (
	"context"
	"io"

	"example.com/operators/scripts/internal/exercises"
	"example.com/operators/scripts/internal/exercises/verdict"
	"example.com/operators/scripts/internal/ui"
)

// In raw mode, these are keys like others.
const (
	ctrlC  = '\x03'
	ctrlD  = '\x04'
	escape = '\x1b'
)

// readKeys sends each key to the channel, and closes it at the end of the input. It ignores arrows
// and the like, which send an escape sequence at once.
func readKeys(ctx context.Context, in io.Reader) <-chan byte {
	if in == nil {
		return nil
	}
	keys := make(chan byte)
	go func() {
		defer close(keys)
		buffer := make([]byte, 64)
		for {
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			if n > 0 && buffer[0] == escape {
				continue
			}
			for _, key := range buffer[:n] {
				select {
				case keys <- key:
				case <-ctx.Done():
					return
				}
			}
		}
	}()
	return keys
}

// press handles a key. It ignores keys that mean nothing here.
func (s *session) press(ctx context.Context, key byte) error {
	switch {
	case key == 'c':
		s.recheck(ctx)
	case key == 'h':
		s.reply(exercises.NextHint(s.Checker.Root, s.current, s.Terminal.Colours))
	case key == 'l':
		s.reply(s.list())
	case key == 'n':
		return s.next(ctx)
	case '1' <= key && key <= '9' && s.asksForCause():
		s.nameCause(ctx, int(key-'0'))
	}
	return nil
}

// next opens the next exercise that is left to do.
func (s *session) next(ctx context.Context) error {
	next, found, err := exercises.NextOpen(s.Checker.Root, s.Exercises, s.current)
	if found {
		return s.open(ctx, next)
	}
	s.reply("No other exercise is left to do.", err)
	return nil
}

// asksForCause reports whether the exercise is a ticket whose cause the learner hasn't named yet.
// Until then, digits choose an answer.
func (s *session) asksForCause() bool {
	return s.cancel == nil && s.verdict.Outcome == verdict.Unnamed && s.verdict.Cause != nil
}

// nameCause answers a ticket's question, and checks the exercise if the answer is right.
func (s *session) nameCause(ctx context.Context, number int) {
	answer, err := exercises.NameCause(s.Checker.Root, s.current, number)
	if err != nil || !answer.Right {
		s.reply(ui.Wrap("That isn't the cause. "+answer.Because), err)
		return
	}
	s.clear()
	s.printf("%s\n", ui.Wrap("Yes. "+answer.Because))
	s.check(ctx)
}
