package utils

import (
	"bytes"
	"sync"
)

// Log collects the output of a process. Its zero value is empty.
type Log struct {
	lock sync.Mutex
	text bytes.Buffer
}

// Write adds text to the log. It never fails.
func (l *Log) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(text)
}

// String returns the output so far.
func (l *Log) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}
