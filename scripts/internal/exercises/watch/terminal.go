package watch

// The terminal in raw mode.

import (
	"bytes"
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
	Close   func() // restores the terminal
}

// OpenTerminal puts the terminal into raw mode until Close, if in and out are a terminal: keys need
// no Enter and aren't shown, and Ctrl-C is a key.
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

// rawWriter adds carriage returns, which the terminal doesn't do in raw mode.
type rawWriter struct{ io.Writer }

func (w rawWriter) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
