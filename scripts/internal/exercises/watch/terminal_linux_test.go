package watch

// A test with a pseudo-terminal, which differs from system to system.

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"example.com/operators/scripts/internal/ui"
)

func openPTY(t *testing.T) (keyboard, terminal *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { keyboard.Close() })
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { terminal.Close() })
	return keyboard, terminal
}

func TestTheTerminalIsRawUntilItIsClosed(t *testing.T) {
	keyboard, device := openPTY(t)
	mode := func() unix.Termios {
		t.Helper()
		termios, err := unix.IoctlGetTermios(int(device.Fd()), unix.TCGETS)
		if err != nil {
			t.Fatal(err)
		}
		return *termios
	}
	before := mode()
	terminal, err := OpenTerminal(device, device, ui.NewPalette(false))
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()

	if _, err := keyboard.Write([]byte("\x03")); err != nil {
		t.Fatal(err)
	}
	key := make([]byte, 8)
	if n, err := terminal.Keys.Read(key); err != nil || string(key[:n]) != "\x03" {
		t.Errorf("Ctrl-C without Enter: read %q, error %v", key[:n], err)
	}
	if _, err := fmt.Fprint(terminal.Out, "one\ntwo\n"); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	if n, err := keyboard.Read(line); err != nil || string(line[:n]) != "one\r\ntwo\r\n" {
		t.Errorf("two lines are written as %q, error %v", line[:n], err)
	}
	terminal.Close()
	terminal.Close() // in a deferred call as well
	if after := mode(); after != before {
		t.Errorf("mode is %+v, want %+v as before", after, before)
	}
}

func TestAPipeHasNoKeys(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer out.Close()
	terminal, err := OpenTerminal(in, out, ui.NewPalette(false))
	if err != nil || terminal.Keys != nil || terminal.Clear || terminal.Out != out {
		t.Errorf("got %+v, error %v", terminal, err)
	}
	terminal.Close()
}
