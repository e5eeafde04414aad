package utils

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"sync"
	"testing"

	"k8s.io/klog/v2"
)

// Log is the program's log, for tests that check it. klog's output is set once for all tests,
// because managers of earlier tests may still log.
type Log struct {
	lock sync.Mutex
	text bytes.Buffer
}

// Write records what is logged.
func (l *Log) Write(text []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(text)
}

// String returns what has been logged so far.
func (l *Log) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}

// MustHave fails the test unless all of these words have been logged.
func (l *Log) MustHave(t *testing.T, words ...string) {
	t.Helper()
	for _, want := range words {
		if said := l.String(); !strings.Contains(said, want) {
			t.Errorf("%q is not in the log:\n%s", want, said)
		}
	}
}

// CaptureLog returns a log of klog's output from now on, until the test ends. TestMain must have
// called ShareLog.
func CaptureLog(t *testing.T) *Log {
	log := &Log{}
	shared.listen(log)
	t.Cleanup(func() { shared.listen(nil) })
	return log
}

// shared is klog's output. It passes everything on to klog's usual output, and to the test that
// listens.
var shared sharedLog

type sharedLog struct {
	lock     sync.Mutex
	listener *Log
}

func (s *sharedLog) listen(listener *Log) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.listener = listener
}

func (s *sharedLog) Write(text []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.listener != nil {
		_, _ = s.listener.Write(text) // it can't fail
	}
	return os.Stderr.Write(text)
}

// ShareLog makes klog write each line once, to where CaptureLog listens.
func ShareLog() {
	flags := flag.NewFlagSet("", flag.PanicOnError)
	klog.InitFlags(flags)
	for name, value := range map[string]string{"logtostderr": "false", "stderrthreshold": "FATAL", "one_output": "true"} {
		if err := flags.Set(name, value); err != nil {
			panic(err)
		}
	}
	klog.SetOutput(&shared)
}
