package process

// What programs print: buffers for concurrent readers, whole lines, and the last lines.

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Buffer is a buffer that is safe for concurrent use.
type Buffer struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (b *Buffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.Write(p)
}

func (b *Buffer) String() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.text.String()
}

func (b *Buffer) Reset() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text.Reset()
}

// Lines calls Do with each complete line, without its newline.
type Lines struct {
	Do func(line string)

	mutex   sync.Mutex
	pending []byte
}

func (l *Lines) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.pending = append(l.pending, p...)
	for {
		line, rest, whole := bytes.Cut(l.pending, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		l.Do(string(line))
		l.pending = rest
	}
}

// Tail returns the last lines of a text.
func Tail(text string, lines int) string {
	all := slices.Collect(strings.Lines(text))
	return strings.Join(all[max(0, len(all)-lines):], "")
}
