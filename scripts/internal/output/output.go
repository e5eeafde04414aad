// Package output takes in what programs print while others look at it.
package output

import (
	"bytes"
	"sync"
)

// Buffer is a buffer that is written and read at the same time.
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

// Reset forgets what was written.
func (b *Buffer) Reset() {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.text.Reset()
}

// Lines calls a function with each line that is written, once it is whole, without its end.
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
