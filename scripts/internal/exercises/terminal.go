package exercises

// The terminal while watch reads single keys from it.

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// Terminal is what a Watch reads from and writes to.
type Terminal struct {
	Out    io.Writer
	Keys   io.Reader // nil: there are none
	Colour bool
	Clear  bool // the screen may be cleared
	// Close puts the terminal back as it was. It may be called more than once.
	Close func()
}

// OpenTerminal has keys come in one by one, without Enter, if in and out are terminals. Until Close they are in raw mode: nothing
// that is typed is shown, and Ctrl-C is a key.
func OpenTerminal(in, out *os.File, colour bool) (Terminal, error) {
	t := Terminal{Out: out, Colour: colour, Close: func() {}}
	if !term.IsTerminal(int(in.Fd())) || !term.IsTerminal(int(out.Fd())) {
		return t, nil
	}
	before, err := term.MakeRaw(int(in.Fd()))
	if err != nil {
		return t, err
	}
	t.Keys, t.Out = in, returning{out}
	t.Clear = os.Getenv("TERM") != "dumb"
	t.Close = func() { _ = term.Restore(int(in.Fd()), before) }
	return t, nil
}

// returning ends each line with a carriage return as well: in raw mode nobody else does.
type returning struct{ io.Writer }

func (w returning) Write(p []byte) (int, error) {
	if _, err := w.Writer.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(p), nil
}
