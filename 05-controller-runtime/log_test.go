// The log, for tests that check what is logged. klog's output is set once for all tests, because
// managers of earlier tests may still log something.

package main

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// logBuffer collects log output. It is safe for concurrent use.
type logBuffer struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(text)
}

func (l *logBuffer) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

// wantContains fails the test if one of these texts is missing from the log.
func (l *logBuffer) wantContains(t *testing.T, texts ...string) {
	t.Helper()
	for _, want := range texts {
		if got := l.String(); !strings.Contains(got, want) {
			t.Errorf("the log doesn't contain %q:\n%s", want, got)
		}
	}
}

// captureLog returns a buffer with everything that is logged from now on, until the test ends.
func captureLog(t *testing.T) *logBuffer {
	log := &logBuffer{}
	shared.listen(log)
	t.Cleanup(func() { shared.listen(nil) })
	return log
}

// shared is klog's output. It writes to stderr, and to the buffer of the test that captures the
// log.
var shared sharedLog

type sharedLog struct {
	lock     sync.Mutex
	listener *logBuffer
}

func (s *sharedLog) listen(listener *logBuffer) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.listener = listener
}

func (s *sharedLog) Write(text []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.listener != nil {
		s.listener.Write(text)
	}
	return os.Stderr.Write(text)
}

// shareLog makes klog write only to shared, and each line once.
func shareLog() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	flags.Set("logtostderr", "false")
	flags.Set("stderrthreshold", "FATAL")
	flags.Set("one_output", "true")
	klog.SetOutput(&shared)
}
