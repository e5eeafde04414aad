package watch

// The terminal, from which watch mode reads single keys.

import (
	"bytes"
	"context"
	"io"
	"os"

	"golang.org/x/term"

	"example.com/operators/scripts/internal/ui"
)

type Terminal struct {
	Out     io.Writer
	Keys    io.Reader // nil: there are none
	Colours ui.Palette
	Clear   bool   // the screen may be cleared
	Close   func() // restores the terminal; may be called more than once
}

// In raw mode, these keys are just bytes.
const (
	ctrlC = 3
	ctrlD = 4
)

// OpenTerminal delivers keys one by one, without Enter, if in and out are terminals. Until Close they are in raw mode: what the
// user types isn't shown, and Ctrl-C is a key.
func OpenTerminal(in, out *os.File, colours ui.Palette) (Terminal, error) {
	t := Terminal{Out: out, Colours: colours, Close: func() {}}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return t, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return t, err
	}
	t.Keys, t.Out = in, rawWriter{out}
	t.Clear = os.Getenv("TERM") != "dumb"
	t.Close = func() { _ = term.Restore(int(in.Fd()), before) }
	return t, nil
}

// rawWriter ends each line with a carriage return too, which the terminal doesn't add in raw mode.
type rawWriter struct{ io.Writer }

func (w rawWriter) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
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
